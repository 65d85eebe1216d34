"""The science of iunet-bench: everything the workflow's scripts call, and nothing of Snakemake.

`iunet.IUNetClassifier` is the method for data of your own; it is imported when it is asked for,
since torch comes with it.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from iunet.estimator.classifier import IUNetClassifier

__version__ = "0.1.0"
__all__ = ["IUNetClassifier", "__version__"]


def __getattr__(name: str):
    if name == "IUNetClassifier":
        from iunet.estimator.classifier import IUNetClassifier

        return IUNetClassifier
    raise AttributeError(f"module 'iunet' has no attribute '{name}'")


def __dir__() -> list[str]:
    return __all__

"""Code for a process in which some packages cannot be imported, as if they were not installed."""

from __future__ import annotations

HIDDEN = """
import sys
class Hidden:
    def find_spec(self, name, *_):
        if name.split(".")[0] in {names}:
            raise ModuleNotFoundError(f"No module named '{{name}}'", name=name)
sys.meta_path.insert(0, Hidden())
"""


def without(*names: str) -> str:
    return HIDDEN.format(names=names)

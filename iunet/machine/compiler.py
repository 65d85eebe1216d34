"""A stand-in for torch's compiler, in jobs that compile nothing.

Every optimiser imports `torch._dynamo` to tell the compiler where to stop. That takes 1.7 s per
job, as long as importing torch itself. The stand-in has the two functions that optimisers call, and
computes nothing, so results stay the same (tests/unit/test_training.py). Any other use, such as the
import of torchvision, loads the real compiler.
"""

from __future__ import annotations

import importlib
import sys
import types

NAME = "torch._dynamo"


class StandIn(types.ModuleType):
    """The functions of `torch._dynamo` that optimisers call."""

    def graph_break(self, *_, **__) -> None:
        pass

    def disable(self, function, *_, **__):
        return function

    def __getattr__(self, name: str):
        if name.startswith("__") and name != "__path__":  # what Python looks up in any module
            raise AttributeError(name)
        import torch

        if sys.modules.get(NAME) is self:
            del sys.modules[NAME], torch._dynamo
        return getattr(importlib.import_module(NAME), name)


def leave_out_compiler() -> None:
    """Register the stand-in as the compiler, unless the real one is already imported."""
    import torch

    if NAME not in sys.modules:
        sys.modules[NAME] = torch._dynamo = StandIn(NAME)

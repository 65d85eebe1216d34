"""Keeping torch's compiler out of jobs that compile nothing.

Every optimiser imports `torch._dynamo`, at 1.7 s per job, as long as importing torch itself takes,
only to tell the compiler where to stop. A stand-in with the two functions that they call computes
nothing, so results stay the same (tests/unit/test_training.py). Whoever asks it for more, as
torchvision does when it is imported, gets the compiler itself.
"""

from __future__ import annotations

import importlib
import sys
import types

NAME = "torch._dynamo"


class StandIn(types.ModuleType):
    """What an optimiser asks of `torch._dynamo`."""

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
    """Put the stand-in where the compiler would be, unless that is imported already."""
    import torch

    if NAME not in sys.modules:
        sys.modules[NAME] = torch._dynamo = StandIn(NAME)

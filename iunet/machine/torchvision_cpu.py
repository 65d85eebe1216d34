"""Import torchvision beside a CPU build of torch.

PyPI has no CPU build of torchvision: its wheel is compiled against CUDA torch, and its compiled
operators do not load beside `torch 2.13.0+cpu`. `import torchvision` then fails where it registers
"fake" versions of two operators, `torchvision::nms` and `torchvision::qnms`, that do not exist.
All that this project uses of it (datasets, transforms, models) is pure Python, so it is enough to
declare the signatures of the two and to import again. Where the plain import works (a CUDA build,
or a torchvision built for the CPU), nothing else happens.
"""

from __future__ import annotations

import functools
import sys
import types

MISSING_OPERATORS = (
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
)
_declarations = []  # kept: torch withdraws a declaration when its Library object is collected


@functools.cache
def import_torchvision() -> types.ModuleType:
    """`import torchvision`, whatever build of torch is installed."""
    try:
        import torchvision
    except RuntimeError as error:
        if "operator torchvision::" not in str(error):
            raise
        import torch

        library = torch.library.Library("torchvision", "FRAGMENT")
        for signature in MISSING_OPERATORS:
            library.define(signature)
        _declarations.append(library)
        # The failed import left half of the package behind.
        for name in [name for name in sys.modules if name.split(".")[0] == "torchvision"]:
            del sys.modules[name]
        import torchvision
    return torchvision

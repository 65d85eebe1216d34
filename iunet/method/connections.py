"""Which inputs still reach the output of a pruned network whose layers follow one another."""

from __future__ import annotations

import numpy as np

Arrays = dict[str, np.ndarray]  # masks [outputs, inputs] of the encoder's layers, in order


def used_inputs(masks: Arrays) -> np.ndarray:
    """Of each input, whether a path of kept weights leads from it to the decoder."""
    layers = list(masks.values())
    reaches = np.ones(len(layers[-1]), dtype=bool)  # the decoder is not pruned
    for mask in reversed(layers):
        reaches = mask[reaches].any(axis=0)
    return reaches


def cut_off_at(masks: Arrays) -> str | None:
    """The first layer that nothing of the input passes; None if there is a path to the end."""
    reached = None
    for name, mask in masks.items():
        reached = mask.any(axis=1) if reached is None else mask[:, reached].any(axis=1)
        if not reached.any():
            return name
    return None

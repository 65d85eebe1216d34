"""Pictures of a fitted classifier (matplotlib, which the base installation does not need)."""

from __future__ import annotations

from typing import Any

import numpy as np

from iunet.errors import DataError, UserError, nearest

MOST_NAMES = 40  # of columns along an axis


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise UserError("Pictures need matplotlib: pip install matplotlib.") from error
    return plt.subplots(layout="constrained")[1]


def plot_history(history: dict[str, list[dict[str, float]]], ax: Any = None) -> Any:
    """The loss of each training, and of the first its two terms."""
    ax = _axes(ax)
    for training, epochs in history.items():
        for term in [key for key in epochs[0] if key not in ("epoch", "valid_accuracy")]:
            if term == "loss" or len(epochs[0]) > 3:  # one term alone is the loss
                style = "-" if term == "loss" else ":"
                ax.plot(
                    [e["epoch"] for e in epochs],
                    [e[term] for e in epochs],
                    style,
                    label=f"{training} {term}",
                )
    ax.set(xlabel="epoch", ylabel="loss")
    ax.legend()
    return ax


def plot_mask(
    masks: dict[str, np.ndarray], layer: int | str, groups: list[dict[str, Any]], ax: Any = None
) -> Any:
    """Kept weights in black, a row for each unit."""
    names = list(masks)
    if isinstance(layer, str) and layer not in masks:
        raise DataError(f"There is no layer '{layer}'.{nearest(layer, names)}")
    if not isinstance(layer, str) and not -len(names) <= layer < len(names):
        raise DataError(f"There is no layer {layer}: the network has {len(names)}.")
    name = layer if isinstance(layer, str) else names[layer]
    ax = _axes(ax)
    mask = masks[name]
    ax.imshow(mask, aspect="auto", cmap="binary", interpolation="nearest", vmin=0, vmax=1)
    ax.set(title=f"{name}: {mask.mean():.1%} kept", ylabel="unit", xlabel="input")
    if name == names[0] and len(groups) <= MOST_NAMES:
        centres = [(group["start"] + group["stop"] - 1) / 2 for group in groups]
        ax.set_xticks(centres, [group["column"] for group in groups], rotation=90)
        ax.set_xlabel("")
    return ax

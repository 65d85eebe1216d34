"""Pictures of a fitted classifier; they need matplotlib."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from iunet.errors import DataError, UserError

TERMS = ["loss", "sup", "nce"]
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
    """The loss of each training, and the two terms of the first."""
    ax = _axes(ax)
    for training, epochs in history.items():
        losses = pd.DataFrame(epochs).set_index("epoch").filter(TERMS)
        losses = losses if losses.shape[1] > 2 else losses[["loss"]]  # one term alone is the loss
        styles = ["-" if term == "loss" else ":" for term in losses]
        losses.add_prefix(f"{training} ").plot(ax=ax, style=styles)
    ax.set(xlabel="epoch", ylabel="loss")
    return ax


def plot_mask(
    masks: dict[str, np.ndarray], layer: int | str, groups: list[dict[str, Any]], ax: Any = None
) -> Any:
    """Kept weights in black, one row per unit."""
    names = list(masks)
    try:
        name = names[names.index(layer) if isinstance(layer, str) else layer]
    except (IndexError, ValueError):
        raise DataError(f"The layer {layer} does not exist. Layers: {', '.join(names)}.") from None
    ax = _axes(ax)
    mask = masks[name]
    ax.imshow(mask, aspect="auto", cmap="binary", interpolation="nearest", vmin=0, vmax=1)
    ax.set(title=f"{name}: {mask.mean():.1%} kept", ylabel="unit", xlabel="input")
    if name == names[0] and len(groups) <= MOST_NAMES:
        centres = [(group["start"] + group["stop"] - 1) / 2 for group in groups]
        ax.set_xticks(centres, [group["column"] for group in groups], rotation=90)
        ax.set_xlabel("")
    return ax

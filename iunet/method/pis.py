"""PIS: the proactive initialisation scheme, κ · θ†."""

from __future__ import annotations

from typing import Any


def proactive_initialisation(weights: dict[str, Any], names: list[str], kappa: float) -> None:
    """PIS: multiply the named weights of θ† by κ, in place. Biases and BatchNorm stay."""
    for name in names:
        weights[name] *= kappa

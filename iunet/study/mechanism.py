"""How the masks of a study came about, as Markdown: laziness, and what β-LASSO cuts."""

from __future__ import annotations

from statistics import fmean
from typing import Any

from iunet.labels import dataset_label, method_label
from iunet.study.answers import FIXED_RATIO, sample
from iunet.tables.effects import Sample

Row = dict[str, Any]
OVERLAP = "overlap_with_initial_mask"
LAZY = ("omp", "iunet_no_pis", "iunet_no_ilo", "iunet", "omp_lr16", "ilo_lr16")
KINDS = {"tabular": "tables", "vision": "image sets"}


def mechanism_text(rows: list[Row]) -> str:
    return "\n".join(filter(None, (laziness_line(rows), beta_lasso_line(rows))))


def laziness_line(rows: list[Row]) -> str | None:
    """The overlap of each method's mask with that of the initial weights, by kind of data."""
    parts = []
    for kind, noun in KINDS.items():
        found = {m: sample(rows, kind, m, OVERLAP) for m in LAZY}
        runs = _runs(found["omp"]) & _runs(found["iunet"])
        sets = sorted({dataset for dataset, _ in runs})
        if sets:
            name = f"{len(sets)} {noun}" if len(sets) > 1 else dataset_label(sets[0])
            # A method that is not finished on the same runs would be a mean of others.
            whole = {m: values for m, values in found.items() if runs <= _runs(values)}
            means = (f"{method_label(m)} {_mean(values, runs):.2f}" for m, values in whole.items())
            parts.append(f"{name}: {', '.join(means)}")
    if not parts:
        return None
    return (
        f"- **Is training lazy?** Share of a mask of r = {FIXED_RATIO} that the initial weights "
        f"alone would keep (1: training changed nothing; by chance {1 / FIXED_RATIO:.2f}). "
        f"{'. '.join(parts)}."
    )


def _runs(values: Sample) -> set[tuple[str, int]]:
    return {(dataset, seed) for dataset, of_seeds in values.items() for seed in of_seeds}


def _mean(values: Sample, runs: set[tuple[str, int]]) -> float:
    """Of the data sets' means: all have the same weight."""
    by_set: dict[str, list[float]] = {}
    for dataset, seed in sorted(runs):
        by_set.setdefault(dataset, []).append(values[dataset][seed])
    return fmean(fmean(of_set) for of_set in by_set.values())


def beta_lasso_line(rows: list[Row]) -> str | None:
    """What is left by the l1 that was chosen on validation."""
    compression = sample(rows, "tabular", "beta_lasso", "encoder_compression")
    kept = sorted(100 / ratio for of in compression.values() for ratio in of.values())
    if not kept:
        return None
    return (
        f"- **What does β-LASSO cut?** With the l1 chosen on validation {kept[0]:.0f} to "
        f"{kept[-1]:.0f} % of the encoder's weights stay (tables: {len(compression)}), where the "
        f"other methods keep {100 / FIXED_RATIO:g} %."
    )

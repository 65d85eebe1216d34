"""The findings of a study in plain words, with numbers from runs.csv: the front page's lines."""

from __future__ import annotations

from statistics import fmean
from typing import Any

from iunet.study.answers import compare, each_difference, nearer_metric
from iunet.tables.effects import Effect

Row = dict[str, Any]
KINDS = {"tabular": ("tables", "balanced accuracy"), "vision": ("images", "accuracy")}


def findings(rows: list[Row]) -> list[str]:
    """What is compared is fixed; better, worse or neither follows from the intervals."""
    lines = [line for kind in KINDS if (line := against_rivals(rows, kind))]
    return [*lines, *filter(None, (larger_step(rows), metric_of_table7(rows)))]


def against_rivals(rows: list[Row], kind: str) -> str | None:
    omp, dense = (compare(rows, kind, "iunet", rival) for rival in ("omp", "dense"))
    if omp is None or dense is None:
        return None
    name, metric = KINDS[kind]
    again = "" if beside(omp) == beside(dense) else f"{beside(dense)} "
    text = (
        f"**IUNET is {beside(omp)} OMP and {again}the dense network on {name}**: "
        f"{points(omp)} and {points(dense)} of {metric}, {over(omp, name)}."
    )
    if len(omp.datasets) > 1:
        each = each_difference(rows, kind, "iunet", "omp")
        most = max(each, key=lambda d: abs(each[d]))
        others = [value for name, value in each.items() if name != most]
        text += f" {most} alone has {each[most]:+.1f}; the others {fmean(others):+.1f} in the mean."
    return text


def larger_step(rows: list[Row]) -> str | None:
    step, with_ilo = (compare(rows, "tabular", m, "iunet") for m in ("omp_lr16", "ilo_lr16"))
    pis = compare(rows, "tabular", "iunet", "iunet_no_pis")
    if step is None or with_ilo is None or pis is None:
        return None
    return (
        f"**A larger step in place of PIS.** IUNET is {beside(pis)} itself without PIS "
        f"({points(pis)}). With neither PIS nor ILO, but 16 times larger steps in the first "
        f"training, OMP is {beside(step)} IUNET ({points(step)}); with ILO and such steps it is "
        f"{points(with_ilo)} ({over(step, 'tables')})."
    )


def metric_of_table7(rows: list[Row]) -> str | None:
    cells = nearer_metric(rows)
    if not cells:
        return None
    near = sum(cell["nearer"] == "swapped_balanced_accuracy" for cell in cells)
    sets = len({cell["dataset"] for cell in cells})
    return (
        "**The metric of the paper's table 7.** Of its cells for the MLP family that were run, "
        f"{near} of {len(cells)} ({sets} tables) lie nearer to our swapped balanced accuracy "
        "(labels and predictions exchanged in the call) than to our balanced accuracy."
    )


def beside(found: Effect) -> str:
    if found.low is None or found.low <= 0 <= found.high:
        return "not distinguishable from"
    return "better than" if found.mean > 0 else "worse than"


def points(found: Effect) -> str:
    interval = "" if found.low is None else f" [{found.low:+.1f}, {found.high:+.1f}]"
    return f"{found.mean:+.1f} points{interval}"


def over(found: Effect, name: str) -> str:
    sets = len(found.datasets)
    which = f"{sets} {name}" if sets > 1 else found.datasets[0]
    return f"{which}, {found.seeds} seeds"

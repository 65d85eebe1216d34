"""What figures share: curves over seeds, names of runs, notes on what is missing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

from matplotlib.axes import Axes

from iunet.artifacts import read_json
from iunet.errors import UserError
from iunet.figures.style import Look
from iunet.labels import dataset_label, method_label, method_order, network_label

Rows = list[dict[str, Any]]
Run = tuple[str, str | None]  # a method and its network, which tuned methods may lack
BAND = {"alpha": 0.16, "linewidth": 0}
BAR = {"elinewidth": 0.8, "capsize": 0}


# ---- curves


def draw_curve(
    panel: Axes,
    values: dict[float, list[float]],
    places: Sequence[float],
    *,
    estimator: str | Callable = "mean",
    errorbar: str | Callable = "sd",
    label: str,
    **line: Any,
) -> None:
    """The mean over seeds at each place, with a band (or a bar) wherever there are two seeds.

    A place without a value is a gap, not a straight line across it. seaborn joins what is left
    when values are missing, so every unbroken stretch is a line of its own, with the same label.
    """
    import seaborn

    for has_values, stretch in groupby(places, key=lambda place: bool(values.get(place))):
        if not has_values:
            continue
        points = [(place, value) for place in stretch for value in values[place]]
        n_places = len({place for place, _ in points})
        # A band over a single place would have no width.
        err_style, err_look = ("band", BAND) if n_places > 1 else ("bars", BAR)
        seaborn.lineplot(
            x=[place for place, _ in points],
            y=[value for _, value in points],
            estimator=estimator,
            errorbar=errorbar if len(points) > n_places else None,
            err_style=err_style,
            err_kws=err_look | {"label": label},
            ax=panel,
            legend=False,
            label=label,
            **line,
        )


def draw_hollow(
    panel: Axes, points: dict[float, float], look: Look, *, label: str, **line: Any
) -> None:
    """White markers over those of a curve: in some seed a layer lost all its weights there."""
    if points:
        style = look.line_style() | {"linestyle": "none", "markeredgewidth": 1.0}
        style |= {"markerfacecolor": "white", "markeredgecolor": look.colour}
        panel.plot(list(points), list(points.values()), **style, label=label, **line)


# ---- names and notes


def run_names(rows: Rows) -> dict[Run, str]:
    """The methods in their order; the network is named where a method has several."""
    networks: dict[str, dict[str | None, None]] = defaultdict(dict)
    for row in rows:
        networks[row["method"]][row["network"]] = None
    names = {}
    for method in method_order(networks):
        for network in networks[method]:
            name = method_label(method, network)
            if len(networks[method]) > 1 and network and method != "dense":
                name = f"{name} on {network_label(network)}"
            names[method, network] = name
    return names


def missing_note(rows: Rows) -> list[str]:
    """One sentence with every missing run, grouped by data set and reason; none if all are there.

    Rows have dataset, network, method, seed and missing.
    """
    groups: dict[tuple[str, str], Rows] = defaultdict(list)
    for row in rows:
        if row["missing"]:
            groups[row["dataset"], row["missing"]].append(row)
    names = run_names(rows)
    texts = []
    for (dataset, reason), gone in groups.items():
        whole = len(gone) == sum(row["dataset"] == dataset for row in rows)
        which = "all runs" if whole else _with_seeds(gone, names)
        texts.append(f"{dataset_label(dataset)}, {which}: {reason}")
    return [f"Missing: {'; '.join(texts)}."] * bool(texts)


def disconnected_note(rows: Rows) -> list[str]:
    """One sentence with every run of a network that has a layer without any weight."""
    found: dict[str, Rows] = defaultdict(list)
    for row in rows:
        if row["disconnected"]:
            found[row["dataset"]].append(row)
    names = run_names(rows)
    texts = [f"{dataset_label(d)}, {_with_seeds(runs, names)}" for d, runs in found.items()]
    return [f"Disconnected: {'; '.join(texts)}."] * bool(texts)


def _with_seeds(runs: Rows, names: dict[Run, str]) -> str:
    """'OMP (seeds 0, 1), IUNET (seed 1)'."""
    seeds: dict[str, dict[int, None]] = defaultdict(dict)
    for run in runs:
        seeds[names[run["method"], run["network"]]][run["seed"]] = None
    return ", ".join(f"{name} ({seeds_text(of_run)})" for name, of_run in seeds.items())


def seeds_text(seeds: Sequence[int]) -> str:
    return f"seed{'s' * (len(seeds) > 1)} {', '.join(map(str, seeds))}"


def reasons(rows: Rows) -> str:
    """Why a panel is empty."""
    return "; ".join(dict.fromkeys(row["missing"] for row in rows)) or "no run was asked for"


# ---- artifacts


def read_report(supernet: dict[str, Any]) -> dict[str, Any]:
    """The report beside a supernet's artifacts, once it is found to be that of the run."""
    path = supernet["files"]["report"]
    report = read_json(path)
    run = str(report.get("run", "")).split("/")
    for part in (supernet["dataset"], supernet["supernet"], f"seed{supernet['seed']}"):
        if part not in run:
            raise UserError(
                f"{path} belongs to the run {report.get('run')!r}, not to {part}. Delete it and "
                "run the same command again."
            )
    return report

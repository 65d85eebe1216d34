"""Figure 2: validation accuracy of `mlp_vis` against the compression ratio.

The upper row varies the initialisation (PIS: κ, trained with `sup`), the lower one the objective
(ILO: `sup`, `scl`, `ilo` at κ = 1); IUNET is in both. Ratio 1 is the supernet itself, that of
`scl` with a decoder trained on its frozen encoder.
"""

from __future__ import annotations

from collections import defaultdict
from statistics import fmean
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from iunet.errors import UserError
from iunet.figures.curves import draw_curve, draw_hollow
from iunet.figures.inputs import check_requests, check_run, finite, missing_reason, refuse
from iunet.figures.style import (
    PAGE_WIDTH,
    house_style,
    look,
    new_figure,
    say_in_panel,
    write_figure,
)
from iunet.labels import (
    OBJECTIVE_LABELS,
    dataset_label,
    kappa_label,
    method_label,
    supernet_point,
)
from iunet.runs.names import SupernetName

DECODER = "trained on the frozen encoder"  # as evaluations say it (iunet/evaluation/evaluate.py)
SWEEPS = {"pis": "PIS: initialisation", "ilo": "ILO: objective"}


def make(ask: dict[str, Any], output: dict[str, str]) -> None:
    write_figure2(ask["requests"], output)


def write_figure2(requests: list[dict[str, Any]], output: dict[str, str]) -> None:
    """From `evaluation.json` files to the figure.

    A request has dataset, supernet (`kappa0.25-ilo`), method, seed, and either `evaluation`, the
    path of the supernet's report, and `cuts`, those of its subnetworks by cut, or `missing`, the
    reason why there is none.
    """
    rows = figure2_rows(requests)
    write_figure(draw_figure2(rows), rows, output)


def figure2_rows(requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One row per run and ratio; a run or a cut that is missing is a row with the reason."""
    check_requests(requests, ("dataset", "supernet", "method", "seed"))
    rows, supernets = [], {}
    for request in requests:
        point = supernet_point(request["supernet"])
        if point is None or not _sweeps(request["method"], *point):
            raise UserError(
                f"Figure 2 cannot show the method '{request['method']}' ({request['supernet']}): "
                "it is of supernets with the objective sup, of those with κ = 1, and of iunet."
            )
        if supernets.setdefault(request["method"], request["supernet"]) != request["supernet"]:
            raise UserError(
                f"Figure 2 was asked for two supernets of the method '{request['method']}': "
                f"{supernets[request['method']]} and {request['supernet']}."
            )
        run = {
            "dataset": request["dataset"],
            "method": request["method"],
            "supernet": request["supernet"],
            "kappa": point[0],
            "objective": point[1],
            "seed": request["seed"],
        }
        reason = missing_reason(request, "evaluation")
        points = [_row(None, missing=reason)] if reason else _read_points(request)
        rows += [run | row for row in points]
    return rows


def _row(
    ratio: float | None,
    valid_accuracy: float | None = None,
    disconnected: bool | None = None,
    decoder: str | None = None,
    missing: str | None = None,
) -> dict[str, Any]:
    return {
        "ratio": ratio,
        "valid_accuracy": valid_accuracy,
        "disconnected": disconnected,
        "decoder": decoder,
        "missing": missing,
    }


def _read_points(request: dict[str, Any]) -> list[dict[str, Any]]:
    """The supernet and its cuts, by ratio."""
    points: dict[float, dict[str, Any]] = {}
    for path in (request["evaluation"], *request["cuts"].values()):
        result = check_run(path, request)
        if result.get("stage") not in ("supernet", "subnetwork"):
            raise refuse(path, f"is a result of the stage {result.get('stage')!r}")
        ratio = finite(path, "its ratio", result.get("ratio"))
        if ratio in points:
            raise refuse(path, f"is the second result of the ratio {ratio:g}")
        if result.get("failed"):
            points[ratio] = _row(ratio, missing=result["failed"])
            continue
        accuracy = finite(path, "valid_accuracy", result.get("metrics", {}).get("valid_accuracy"))
        disconnected, decoder = bool(result.get("disconnected")), result.get("decoder")
        points[ratio] = _row(ratio, accuracy, disconnected, decoder)
    return [points[ratio] for ratio in sorted(points)]


def _sweeps(method: str, kappa: float, objective: str) -> list[str]:
    """The rows of panels that a curve is in."""
    if method == "iunet":
        return list(SWEEPS)
    return [sweep for sweep, of in {"pis": objective == "sup", "ilo": kappa == 1}.items() if of]


# ---- drawing


def draw_figure2(rows: list[dict[str, Any]]) -> Figure:
    datasets = list(dict.fromkeys(row["dataset"] for row in rows))
    ratios = sorted({row["ratio"] for row in rows if row["valid_accuracy"] is not None})
    with house_style():
        width = min(PAGE_WIDTH, 1.3 + 2.4 * len(datasets))
        figure, body = new_figure(width, 4.2, _notes(rows))
        grid = body.add_gridspec(
            2, len(datasets) + 1, width_ratios=[*[1] * len(datasets), 0.95 / (width - 0.95) * 3]
        )
        for j, dataset in enumerate(datasets):
            panel = None
            for i, sweep in enumerate(SWEEPS):
                panel = body.add_subplot(grid[i, j], sharey=panel)
                drawn = _draw_panel(panel, _of(rows, sweep, dataset), ratios)
                if i == 0:
                    panel.set_title(dataset_label(dataset), weight="bold")
                elif drawn:
                    panel.set_xlabel("Compression ratio")
                if j == 0 and drawn:
                    panel.set_ylabel("Validation accuracy (%)")
        for i, sweep in enumerate(SWEEPS):
            _draw_legend(body.add_subplot(grid[i, -1]), _of(rows, sweep), sweep)
    return figure


def _of(rows: list[dict[str, Any]], sweep: str, dataset: str | None = None) -> list[dict[str, Any]]:
    return [
        row
        for row in rows
        if sweep in _sweeps(row["method"], row["kappa"], row["objective"])
        and dataset in (None, row["dataset"])
    ]


def _curves(rows: list[dict[str, Any]]) -> list[str]:
    """The methods of a sweep from κ = 1 and `sup` away, IUNET last."""
    objectives = list(OBJECTIVE_LABELS)
    place = {
        row["method"]: (row["method"] == "iunet", -row["kappa"], objectives.index(row["objective"]))
        for row in rows
    }
    return sorted(place, key=lambda method: (place[method], method))


def _draw_panel(panel: Axes, rows: list[dict[str, Any]], ratios: list[float]) -> bool:
    """Whether there was anything to draw."""
    found = [row for row in rows if row["valid_accuracy"] is not None]
    if not found:
        reasons = dict.fromkeys(row["missing"] for row in rows)
        say_in_panel(panel, "; ".join(reasons) or "no run was asked for")
        return False
    for method in _curves(found):
        _draw_curve(panel, method, [row for row in found if row["method"] == method], ratios)
    panel.set_xscale("log", base=2)
    panel.set_xlim(min(ratios) / 1.15, max(ratios) * 1.15)
    panel.xaxis.set_major_locator(FixedLocator(ratios))
    panel.xaxis.set_minor_locator(NullLocator())
    panel.xaxis.set_major_formatter(FuncFormatter(lambda ratio, _: f"{ratio:g}"))
    panel.grid(axis="y")
    return True


def _draw_curve(panel: Axes, method: str, rows: list[dict[str, Any]], ratios: list[float]) -> None:
    """The mean over seeds, with one standard deviation about it where there are two seeds."""
    values: dict[float, list[float]] = defaultdict(list)
    for row in rows:
        values[row["ratio"]].append(row["valid_accuracy"])
    cut_off = {row["ratio"] for row in rows if row["disconnected"]}
    style, front = look(method), 4 if method == "iunet" else 3
    draw_curve(panel, values, ratios, label=method, zorder=front, **style.line_style())
    hollow = {ratio: fmean(values[ratio]) for ratio in sorted(cut_off)}
    draw_hollow(panel, hollow, style, label=f"{method} disconnected", zorder=front + 2)


def _draw_legend(axes: Axes, rows: list[dict[str, Any]], sweep: str) -> None:
    axes.set_axis_off()
    handles = []
    for method in _curves(rows):
        of_method = [row for row in rows if row["method"] == method]
        label = curve_label(of_method[0], sweep)
        if all(row["missing"] for row in of_method):
            label += ": missing"
        handles.append(Line2D([], [], **look(method).line_style(), label=label))
    axes.legend(
        handles=handles,
        title=SWEEPS[sweep],
        loc="center left",
        alignment="left",
        borderaxespad=0,
        bbox_to_anchor=(-0.05, 0.5),
        handlelength=2.6,
        labelspacing=0.7,
    )


def curve_label(row: dict[str, Any], sweep: str) -> str:
    """What the sweep varies, and the method's name where it has one of its own."""
    if row["method"] == "iunet":
        return f"IUNET ({kappa_label(row['kappa'])}, ILO)"
    name = kappa_label(row["kappa"]) if sweep == "pis" else OBJECTIVE_LABELS[row["objective"]]
    init = SupernetName.parse(row["supernet"]).init.removeprefix("-")
    name += f", {init}" if init else ""
    return f"{name} (OMP)" if row["method"] == "omp" else name


def _notes(rows: list[dict[str, Any]]) -> list[str]:
    per_point: dict[tuple, int] = defaultdict(int)
    for row in rows:
        if row["valid_accuracy"] is not None:
            per_point[row["dataset"], row["method"], row["ratio"]] += 1
    sentences = []
    if max(per_point.values(), default=0) == 1:
        sentences.append("One seed: no bands.")
    elif per_point:
        same = len(set(per_point.values())) == 1
        seeds = f"{'' if same else 'up to '}{max(per_point.values())} seeds"
        sentences.append(f"Mean of {seeds}; bands: ± one standard deviation.")
    if any(row["disconnected"] for row in rows):
        sentences.append("Hollow marker: in some seed a layer lost all its weights.")
    if lent := dict.fromkeys(row["method"] for row in rows if row["decoder"] == DECODER):
        names = " and ".join(map(method_label, lent))
        sentences.append(
            f"{names} at ratio 1: a decoder trained on the frozen encoder, since its supernet "
            "trains none."
        )
    absent = _missing_text(rows)
    return [" ".join(sentences)] * bool(sentences) + [f"Missing: {absent}."] * bool(absent)


def _missing_text(rows: list[dict[str, Any]]) -> str:
    """Every missing run and cut, grouped by data set and reason."""
    groups: dict[tuple[str, str], dict[tuple, list[str]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if row["missing"]:
            what = (row["method"], row["ratio"])
            groups[row["dataset"], row["missing"]][what].append(str(row["seed"]))
    texts = []
    for (dataset, reason), found in groups.items():
        asked = {(row["method"], str(row["seed"])) for row in rows if row["dataset"] == dataset}
        whole = {(m, seed) for (m, ratio), seeds in found.items() if not ratio for seed in seeds}
        if whole == asked:
            texts.append(f"{dataset_label(dataset)}, all runs: {reason}")
            continue
        names = [
            f"{method_label(method)}{f' at ratio {ratio:g}' if ratio else ''} "
            f"(seed{'s' * (len(seeds) > 1)} {', '.join(seeds)})"
            for (method, ratio), seeds in found.items()
        ]
        texts.append(f"{dataset_label(dataset)}, {', '.join(names)}: {reason}")
    return "; ".join(texts)

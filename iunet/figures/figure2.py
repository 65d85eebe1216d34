"""Figure 2: validation accuracy of `mlp_vis` against the compression ratio.

The upper row varies the initialisation (PIS: κ, trained with `sup`), the lower one the objective
(ILO: `sup`, `scl`, `ilo` at κ = 1); IUNET is in both. Ratio 1 is the supernet itself, that of
`scl` with a decoder trained on its frozen encoder.
"""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from iunet.errors import UserError
from iunet.figures.catalog import figure_request
from iunet.figures.parts import Rows, draw_curves, missing_note, seeds_note
from iunet.figures.style import FONT, PAGE_WIDTH, look, new_figure
from iunet.labels import OBJECTIVE_LABELS, dataset_label, kappa_label, method_label, method_order
from iunet.results.collect import collect
from iunet.runs.entries import Benchmark
from iunet.runs.names import SupernetName
from iunet.runs.settings import trains_decoder

OWN_DECODER, LENT_DECODER = "its own", "trained on the frozen encoder"
SWEEPS = {"pis": "PIS: initialisation", "ilo": "ILO: objective"}


def rows(bench: Benchmark, name: str) -> Rows:
    return points(collect(bench, figure_request(bench, name)).runs)


def points(runs: pd.DataFrame) -> Rows:
    """One row per run and ratio; what is missing has the reason in place of an accuracy."""
    found = []
    for run in runs.to_dict("records"):
        if not sweeps_of(run):
            raise UserError(
                f"Figure 2 cannot show the method '{run['method']}' ({run['supernet']}): it shows "
                "supernets with the objective sup, those with κ = 1 (but not β-LASSO's), and iunet."
            )
        missing = run["missing"] or run["failed"]
        decoder = OWN_DECODER if trains_decoder(run["supernet"]) else LENT_DECODER
        found.append(
            {key: run[key] for key in ("dataset", "method", "supernet", "kappa", "objective")}
            | {
                "seed": run["seed"],
                "ratio": float(run["ratio"]) if run["cut"] else 1.0,
                "valid_accuracy": None if missing else run["valid_accuracy"],
                "disconnected": None if missing else bool(run["disconnected"]),
                "decoder": None if missing or run["cut"] else decoder,
                "missing": missing,
            }
        )
    return found


def sweeps_of(run: dict[str, Any]) -> list[str]:
    """The rows of panels that show a run."""
    objective = run["objective"]
    shown = {"pis": objective == "sup", "ilo": run["kappa"] == 1 and objective in OBJECTIVE_LABELS}
    return [sweep for sweep in SWEEPS if shown[sweep] or run["method"] == "iunet"]


# ---- drawing


def draw(rows: Rows) -> Figure:
    frame = pd.DataFrame(rows)
    there = frame[frame["missing"].isna()]
    datasets = list(there["dataset"].unique())
    ratios = sorted(there["ratio"].unique())
    width = min(PAGE_WIDTH, 1.3 + 2.4 * len(datasets))
    figure, body = new_figure(width, 4.2, _notes(frame, there))
    axes = body.subplots(len(SWEEPS), len(datasets), sharex="col", sharey="col", squeeze=False)
    for sweep, panels in zip(SWEEPS, axes, strict=True):
        of_sweep = there[[sweep in sweeps_of(row) for row in there.to_dict("records")]]
        for dataset, panel in zip(datasets, panels, strict=True):
            _draw_panel(panel, of_sweep[of_sweep["dataset"] == dataset], ratios)
        _draw_legend(panels[-1], of_sweep, sweep)
    for dataset, panel in zip(datasets, axes[0], strict=True):
        panel.set_title(dataset_label(dataset), weight="bold")
    body.supxlabel("Compression ratio", size=FONT)
    body.supylabel("Validation accuracy (%)", size=FONT)
    return figure


def _draw_panel(panel: Axes, frame: pd.DataFrame, ratios: list[float]) -> None:
    """The mean over seeds, with one standard deviation about it where there are two seeds."""
    draw_curves(panel, frame, "ratio", "valid_accuracy")
    panel.set_xscale("log", base=2)
    panel.set_xticks(ratios, map("{:g}".format, ratios))
    panel.minorticks_off()
    panel.grid(axis="y")


def _draw_legend(panel: Axes, frame: pd.DataFrame, sweep: str) -> None:
    """To the right of a row of panels, from κ = 1 down, IUNET last."""
    runs = frame.drop_duplicates("method").set_index("method")
    order = sorted(method_order(runs.index), key=lambda m: (m == "iunet", -runs["kappa"][m]))
    handles = [
        Line2D(
            [], [], **look(method).line_style(), label=curve_label(method, runs.loc[method], sweep)
        )
        for method in order
    ]
    place = {"loc": "center left", "bbox_to_anchor": (1.02, 0.5), "alignment": "left"}
    title = SWEEPS[sweep]
    panel.legend(handles=handles, title=title, **place, handlelength=2.6, labelspacing=0.7)


def curve_label(method: str, run: pd.Series, sweep: str) -> str:
    """What the sweep varies, and the method's name where it has one of its own."""
    if method == "iunet":
        return f"IUNET ({kappa_label(run['kappa'])}, ILO)"
    name = kappa_label(run["kappa"]) if sweep == "pis" else OBJECTIVE_LABELS[run["objective"]]
    init = SupernetName.parse(run["supernet"]).init.removeprefix("-")
    name += f", {init}" if init else ""
    return f"{name} (OMP)" if method == "omp" else name


def _notes(frame: pd.DataFrame, there: pd.DataFrame) -> list[str]:
    sentences = [seeds_note(there, ["dataset", "method", "ratio"], "± one standard deviation")]
    if there["disconnected"].any():
        sentences.append("Hollow marker: in some seed a layer lost all its weights.")
    if lent := list(there.loc[there["decoder"] == LENT_DECODER, "method"].unique()):
        names = " and ".join(map(method_label, lent))
        sentences.append(
            f"{names} at ratio 1: a decoder trained on the frozen encoder, since its supernet "
            "trains none."
        )
    names = frame["method"].map(method_label) + frame["ratio"].map(" at ratio {:g}".format)
    return [" ".join(sentences), missing_note(frame, names)]

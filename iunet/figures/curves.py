"""Validation accuracy after each epoch: of supernets, and of the networks trained from them.

A line of panels for each data set and network: the supernets at the left; at the right the
subnetworks, at the chosen ratio, and the dense network. `train.validate_every` says how often a
training was validated. A curve that still rises at its end would gain from more epochs.
"""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from iunet.artifacts import read_json
from iunet.figures.catalog import figure_request
from iunet.figures.parts import Rows, draw_curves, missing_note, seeds_note
from iunet.figures.style import FONT, PAGE_WIDTH, look, new_figure
from iunet.labels import dataset_label, method_label, method_order, network_label
from iunet.results.collect import collect
from iunet.results.request import asked_runs
from iunet.results.selection import of_results
from iunet.runs.entries import Benchmark

TRAININGS = {"supernet": "Supernet", "finetune": "Subnetwork or dense network"}
NETWORK = ["dataset", "network", "method", "seed", "supernet", "cut"]
NOTHING = {"training": None, "epoch": None, "valid_accuracy": None}


def rows(bench: Benchmark, name: str) -> Rows:
    """A row for each epoch that was validated; what is missing is a row with the reason."""
    request = figure_request(bench, name)
    files = {_key(vars(run)): run.files for run in asked_runs(bench, request)}
    found = []
    for run in of_results(collect(bench, request).runs).to_dict("records"):
        head = {key: run[key] for key in NETWORK[:4]}
        if missing := run["missing"] or run["failed"]:
            found.append(head | NOTHING | {"missing": missing})
            continue
        reports = files[_key(run)]
        for training in (kind for kind in TRAININGS if kind in reports):
            for entry in read_json(reports[training])["history"]:
                if "valid_accuracy" in entry:
                    point = {key: entry[key] for key in ("epoch", "valid_accuracy")}
                    found.append(head | {"training": training} | point | {"missing": None})
    return found


def _key(run: dict) -> tuple:
    return tuple(run[key] for key in NETWORK)


def draw(rows: Rows) -> Figure:
    frame = pd.DataFrame(rows)
    there = frame[frame["missing"].isna()]
    networks = dict(iter(there.groupby(["dataset", "network"], sort=False)))
    figure, body = new_figure(PAGE_WIDTH, 0.7 + 2.2 * len(networks), _notes(frame, there))
    lines = body.subplots(len(networks), len(TRAININGS), sharey="row", squeeze=False)
    for panels, ((dataset, network), part) in zip(lines, networks.items(), strict=True):
        for panel, training in zip(panels, TRAININGS, strict=True):
            _draw_panel(panel, part[part["training"] == training])
        panels[0].set_ylabel(f"{dataset_label(dataset)}, {network_label(network)}")
    for panel, title in zip(lines[0], TRAININGS.values(), strict=True):
        panel.set_title(title, weight="bold")
    body.supxlabel("Epoch", size=FONT)
    body.supylabel("Validation accuracy (%)", size=FONT)
    handles = [_line(method) for method in method_order(there["method"].unique())]
    body.legend(handles=handles, loc="outside right center", alignment="left")
    return figure


def _draw_panel(panel: Axes, frame: pd.DataFrame) -> None:
    draw_curves(panel, frame.assign(disconnected=False), "epoch", "valid_accuracy", marker="")
    panel.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    panel.grid(axis="y")


def _line(method: str) -> Line2D:
    style = look(method).line_style() | {"marker": ""}
    return Line2D([], [], **style, label=method_label(method))


def _notes(frame: pd.DataFrame, there: pd.DataFrame) -> list[str]:
    point = ["dataset", "network", "method", "training", "epoch"]
    return [
        seeds_note(there, point, "± one standard deviation"),
        missing_note(frame, frame["method"].map(method_label)),
    ]

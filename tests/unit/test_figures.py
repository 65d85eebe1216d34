from __future__ import annotations

import csv
import itertools
import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import stdev

import numpy as np
import pytest
from matplotlib.text import Text

from iunet.artifacts import write_arrays, write_json
from iunet.baselines.catalog import LEARNERS
from iunet.errors import UserError
from iunet.figures.critical_difference import (
    critical_difference_rows,
    draw_critical_difference,
    write_critical_difference,
)
from iunet.figures.figure2 import draw_figure2, figure2_rows, write_figure2
from iunet.figures.figure3 import draw_figure3, figure3_rows, quantile_of, write_figure3
from iunet.figures.figure4 import (
    draw_figure4,
    figure4_layers,
    largest,
    named_groups,
    write_figure4,
)
from iunet.figures.style import LOOKS, SMALL, look
from iunet.figures.tuning_history import draw_tuning_history, tuning_rows, write_tuning_history
from iunet.labels import (
    METHOD_LABELS,
    dataset_label,
    method_label,
    method_order,
    metric_label,
    network_label,
    supernet_point,
)

ROOT = Path(__file__).resolve().parents[2]
METHODS = {
    "omp": "kappa1-sup",
    "iunet_no_ilo": "kappa0.25-sup",
    "sup_kappa0.125": "kappa0.125-sup",
    "scl": "kappa1-scl",
    "iunet_no_pis": "kappa1-ilo",
    "iunet": "kappa0.25-ilo",
}


def outputs(folder: Path, name: str = "figure") -> dict[str, str]:
    return {kind: str(folder / f"{name}.{kind}") for kind in ("pdf", "png", "csv")}


def written(output: dict[str, str]) -> list[dict[str, str]]:
    """The rows of the CSV, once the other two files are seen to be what they should be."""
    assert Path(output["pdf"]).read_bytes().startswith(b"%PDF")
    assert Path(output["png"]).read_bytes().startswith(b"\x89PNG")
    with Path(output["csv"]).open(newline="") as file:
        return list(csv.DictReader(file))


def texts(figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(Text) if text.get_text().strip()]


def says(figure, part: str) -> bool:
    return any(part in text.replace("\n", " ") for text in texts(figure))


def panel_of(figure, title: str):
    (panel,) = [axes for axes in figure.axes if axes.get_title() == title]
    return panel


def line(panel, label: str):
    (found,) = [line for line in panel.get_lines() if line.get_label() == label]
    return found


# ---- labels and style


def test_labels():
    assert method_label("dense") == "Dense"
    assert method_label("dense", "mlp_tab") == "MLP_TAB"
    assert method_label("iunet_lambda0.5") == "IUNET (λ = 0.5)"
    assert method_label("sup_kappa0.5") == "PIS (κ = 0.5)"
    assert method_label("of_my_own") == "of_my_own"
    assert network_label("mlp_vis-alpha4") == "MLP_VIS (alpha4)"
    assert (dataset_label("cifar10"), dataset_label("credit-g")) == ("CIFAR10", "credit-g")
    assert metric_label("valid_balanced_accuracy") == "Validation balanced accuracy (%)"
    assert method_order(["mlp_c", "zz", "iunet", "aa", "dense", "iunet"]) == [
        "dense",
        "iunet",
        "mlp_c",
        "aa",
        "zz",
    ]
    assert supernet_point("kappa0.25-ilo-glorot") == (0.25, "ilo")
    assert supernet_point("dense") is None
    assert supernet_point("kappa1-lasso0.00001") is None


def test_every_method_has_a_look_of_its_own():
    assert list(LOOKS) == [method for method in METHOD_LABELS if method in LOOKS]
    assert {"dense", "omp", "iunet", *LEARNERS} <= set(LOOKS)
    assert len({look.colour for look in LOOKS.values()}) == len(LOOKS)
    # Without colour, too.
    assert len({(look.marker, str(look.line)) for look in LOOKS.values()}) >= len(LOOKS) - 1
    assert look("mine") == look("mine") not in LOOKS.values()


# Machado, Oliveira and Fernandes 2009, complete protanopia and deuteranopia, on linear RGB.
SEEN_AS = {
    "protan": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deutan": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "normal": np.eye(3).tolist(),
}


def lab(colour: str, seen_as: str) -> np.ndarray:
    srgb = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    linear = np.clip(np.array(SEEN_AS[seen_as]) @ linear, 0, 1)
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    x, y, z = np.cbrt(np.array(to_xyz) @ linear / [0.9505, 1, 1.089] + 1e-9)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("seen_as", SEEN_AS)
@pytest.mark.parametrize(
    "together",
    [
        ["omp", "iunet_no_ilo", "sup_kappa0.125", "sup_kappa0.0625", "iunet"],
        ["omp", "scl", "iunet_no_pis", "iunet"],
        ["dense", "omp", "beta_lasso", "iunet", "xgb", "tabnet", "mlp_c"],
    ],
)
def test_methods_of_one_figure_are_told_apart_by_the_colour_blind(together, seen_as):
    for a, b in itertools.combinations(together, 2):
        distance = np.linalg.norm(lab(LOOKS[a].colour, seen_as) - lab(LOOKS[b].colour, seen_as))
        assert distance > 15, (a, b, distance)


# ---- figure 2


def evaluation(folder: Path, dataset: str, method: str, seed: int, values: dict) -> dict:
    """A request, with its reports written: `values` are accuracies by ratio, or a failure."""
    supernet = METHODS[method]
    paths = {}
    for ratio, value in values.items():
        failed = value if isinstance(value, str) else None
        cut = "" if ratio == 1 else f"/ratio{ratio}"
        report = {
            "run": f"{dataset}/mlp_vis/{supernet}/seed{seed}{cut}",
            "dataset": dataset,
            "seed": seed,
            "stage": "subnetwork" if cut else "supernet",
            "ratio": float(ratio),
            "failed": failed,
            "metrics": {} if failed else {"valid_accuracy": value, "test_accuracy": 0.0},
            "disconnected": False,
        }
        path = folder / f"evaluation-{dataset}-{supernet}-{seed}-{ratio}.json"
        path.write_text(json.dumps(report))
        paths[f"ratio{ratio}"] = str(path)
    return {
        "dataset": dataset,
        "supernet": supernet,
        "method": method,
        "seed": seed,
        "evaluation": paths.pop("ratio1"),
        "cuts": paths,
        "missing": None,
    }


def absent(request: dict, reason: str) -> dict:
    return request | {"evaluation": None, "cuts": {}, "missing": reason}


@pytest.fixture
def sweep(tmp_path) -> list[dict]:
    """Two data sets, all methods, two seeds; values say which point they are of."""
    return [
        evaluation(tmp_path, dataset, method, seed, {1: 50 + i, 2: 60 + i + seed, 8: 40 + i - seed})
        for dataset in ("cifar10", "svhn")
        for i, method in enumerate(METHODS)
        for seed in (0, 1)
    ]


def panels2(figure) -> dict[tuple[str, str], object]:
    """Panels by data set and sweep: column by column, the legends last."""
    axes = figure.axes
    n = len(axes) // 2 - 1
    titles = [axes[2 * j].get_title() for j in range(n)]
    return {
        (title, sweep): axes[2 * j + i]
        for j, title in enumerate(titles)
        for i, sweep in enumerate(("pis", "ilo"))
    } | {("legend", "pis"): axes[-2], ("legend", "ilo"): axes[-1]}


def test_figure2_plots_means_and_bands(sweep):
    panels = panels2(draw_figure2(figure2_rows(sweep)))
    assert list(panels) == [
        (title, row) for title in ("CIFAR10", "SVHN", "legend") for row in ("pis", "ilo")
    ]
    pis, ilo = panels["SVHN", "pis"], panels["SVHN", "ilo"]
    expected = {
        pis: ["omp", "iunet_no_ilo", "sup_kappa0.125", "iunet"],
        ilo: ["omp", "scl", "iunet_no_pis", "iunet"],
    }
    for panel, methods in expected.items():
        assert [line.get_label() for line in panel.get_lines()] == methods
        for method in methods:
            i = list(METHODS).index(method)
            curve = line(panel, method)
            assert list(curve.get_xdata()) == [1, 2, 8]
            assert list(curve.get_ydata()) == [50 + i, 60.5 + i, 39.5 + i]
            assert curve.get_color() == LOOKS[method].colour
            assert curve.get_marker() == LOOKS[method].marker
            (band,) = [c for c in panel.collections if c.get_label() == method]
            corners = np.concatenate([path.vertices for path in band.get_paths()])
            for x, centre, std in ((1, 50, 0), (2, 60.5, stdev([0, 1])), (8, 39.5, stdev([0, 1]))):
                heights = corners[corners[:, 0] == x, 1]
                assert heights.min() == pytest.approx(centre + i - std)
                assert heights.max() == pytest.approx(centre + i + std)
        assert (panel.get_xscale(), panel.xaxis.get_transform().base) == ("log", 2)
        assert list(panel.get_xticks()) == [1, 2, 8]
        assert [label.get_text() for label in panel.get_xticklabels()] == ["1", "2", "8"]
    assert pis.get_ylim() == ilo.get_ylim()


def test_figure2_legends_and_fonts(sweep):
    figure = draw_figure2(figure2_rows(sweep))
    panels = panels2(figure)
    legend = {row: panels["legend", row].get_legend() for row in ("pis", "ilo")}
    assert [text.get_text() for text in legend["pis"].get_texts()] == [
        "κ = 1 (OMP)",
        "κ = 0.25",
        "κ = 0.125",
        "IUNET (κ = 0.25, ILO)",
    ]
    assert [text.get_text() for text in legend["ilo"].get_texts()] == [
        "sup (OMP)",
        "SCL",
        "ILO",
        "IUNET (κ = 0.25, ILO)",
    ]
    assert says(figure, "Mean of 2 seeds")
    figure.draw_without_rendering()
    assert all(text.get_size() >= SMALL for text in figure.findobj(Text) if text.get_text())


def test_figure2_one_seed_has_no_band(sweep, tmp_path):
    output = outputs(tmp_path)
    one = [request for request in sweep if request["seed"] == 0]
    figure = draw_figure2(figure2_rows(one))
    assert not any(panel.collections for panel in figure.axes)
    assert says(figure, "One seed: no bands.")
    write_figure2(one, output)
    rows = written(output)
    assert len(rows) == 2 * len(METHODS) * 3
    assert rows[1] == {
        "dataset": "cifar10",
        "method": "omp",
        "supernet": "kappa1-sup",
        "kappa": "1.0",
        "objective": "sup",
        "seed": "0",
        "ratio": "2.0",
        "valid_accuracy": "60.0",
        "disconnected": "False",
        "decoder": "",
        "missing": "",
    }


def test_figure2_names_what_is_missing(sweep, tmp_path):
    requests = [
        absent(request, "not in the mirror")
        if request["dataset"] == "svhn"
        else absent(request, "not finished")
        if request["method"] == "scl" or (request["method"], request["seed"]) == ("omp", 1)
        else request
        for request in sweep
    ]
    figure = draw_figure2(figure2_rows(requests))
    panels = panels2(figure)
    assert not panels["SVHN", "pis"].get_lines()
    assert [text.get_text() for text in panels["SVHN", "ilo"].texts] == ["not in the mirror"]
    assert "scl" not in [line.get_label() for line in panels["CIFAR10", "ilo"].get_lines()]
    omp = line(panels["CIFAR10", "ilo"], "omp")
    assert list(omp.get_ydata()) == [50, 60, 40]  # the seed that is there
    bands = [band.get_label() for band in panels["CIFAR10", "ilo"].collections]
    assert bands == ["iunet_no_pis", "iunet"]
    labels = [text.get_text() for text in panels["legend", "ilo"].get_legend().get_texts()]
    assert labels[1] == "SCL: missing"
    assert says(figure, "Mean of up to 2 seeds")
    assert says(figure, "CIFAR10, OMP (seed 1), SCL (seeds 0, 1): not finished")
    assert says(figure, "SVHN, all runs: not in the mirror")
    output = outputs(tmp_path)
    write_figure2(requests, output)
    missing = [row for row in written(output) if row["missing"]]
    assert len(missing) == 2 * len(METHODS) + 3
    assert {row["valid_accuracy"] for row in missing} == {""}


def test_figure2_failed_cut_is_a_gap(tmp_path):
    requests = [
        evaluation(tmp_path, "svhn", "omp", 0, {1: 80, 2: "every weight died", 8: 70}),
        evaluation(tmp_path, "svhn", "iunet", 0, {1: 81, 2: 85, 8: 86}),
    ]
    figure = draw_figure2(figure2_rows(requests))
    curves = [c for c in panels2(figure)["SVHN", "pis"].get_lines() if c.get_label() == "omp"]
    # Two lines of one point each: nothing is drawn across the gap.
    assert [c.get_xydata().tolist() for c in curves] == [[[1, 80]], [[8, 70]]]
    assert says(figure, "Missing: SVHN, OMP at ratio 2 (seed 0): every weight died.")


def test_figure2_everything_missing(sweep, tmp_path):
    requests = [absent(request, "not finished") for request in sweep]
    output = outputs(tmp_path)
    write_figure2(requests, output)
    assert {row["missing"] for row in written(output)} == {"not finished"}


def change_report(path: str, **changes) -> None:
    """A change to None takes the key away."""
    report = json.loads(Path(path).read_text()) | changes
    Path(path).write_text(json.dumps({k: v for k, v in report.items() if v is not None}))


def test_figure2_marks_disconnected(tmp_path):
    request = evaluation(tmp_path, "svhn", "omp", 0, {1: 80, 8: 70})
    change_report(request["cuts"]["ratio8"], disconnected=True)
    figure = draw_figure2(figure2_rows([request]))
    panel = panels2(figure)["SVHN", "ilo"]
    assert list(line(panel, "omp").get_ydata()) == [80, 70]
    hollow = line(panel, "omp disconnected")
    assert (list(hollow.get_xdata()), list(hollow.get_ydata())) == ([8], [70])
    assert hollow.get_markerfacecolor() == "white"
    assert says(figure, "Hollow marker")


@pytest.mark.parametrize("which", ["evaluation", "ratio2"])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "does not exist"),
        ('{"run": ', "read as JSON"),
        ("[]", "no JSON object"),
        ({"dataset": "svhn"}, "dataset 'svhn', not 'cifar10'"),
        ({"dataset": None}, "has no 'dataset'"),
        ({"run": "cifar10/mlp_vis/kappa1-ilo/seed0"}, "kappa1-sup"),
        ({"run": "cifar10/mlp_vis/kappa1-sup/seed1"}, "seed0"),
        ({"stage": "dense"}, "stage 'dense'"),
        ({"stage": None}, "stage None"),
        ({"ratio": None}, "None as its ratio"),
        ({"metrics": {"valid_accuracy": float("nan")}}, "nan as valid_accuracy"),
        ({"metrics": {}}, "None as valid_accuracy"),
    ],
)
def test_figure2_refuses_bad_reports(sweep, which, content, message):
    path = sweep[0]["cuts"].get(which) or sweep[0]["evaluation"]
    if content is None:
        Path(path).unlink()
    elif isinstance(content, str):
        Path(path).write_text(content)
    else:
        change_report(path, **content)
    with pytest.raises(UserError, match=message) as error:
        figure2_rows(sweep)
    assert path in str(error.value)


def test_figure2_refuses_a_ratio_twice(sweep):
    change_report(sweep[0]["cuts"]["ratio8"], ratio=2.0)
    with pytest.raises(UserError, match="is the second result of the ratio 2") as error:
        figure2_rows(sweep)
    assert sweep[0]["cuts"]["ratio8"] in str(error.value)


def test_figure2_refuses_bad_requests(sweep):
    for requests, message in (
        ([], "list of runs is empty"),
        ([*sweep, sweep[0]], "seed 0 twice"),
        ([sweep[0] | {"evaluation": None}], "without a file"),
        ([sweep[0] | {"supernet": "kappa0.5-ilo", "method": "mine"}], "cannot show the method"),
        ([sweep[0], sweep[1] | {"supernet": "kappa0.5-sup"}], "two supernets of the method 'omp'"),
    ):
        with pytest.raises(UserError, match=message):
            figure2_rows(requests)


# ---- figure 3

EDGES = np.logspace(-4, 0, 5)  # four bins, one decade each


def histogram(folder: Path, dataset: str, supernet: str, seed: int, counts) -> dict:
    stem = folder / f"{dataset}-{supernet}-{seed}"
    write_arrays(f"{stem}.safetensors", {"counts": np.array(counts), "edges": EDGES})
    run = f"{dataset}/mlp_vis/{supernet}/seed{seed}"
    write_json(f"{stem}.json", {"run": run, "dataset": dataset})
    return {
        "dataset": dataset,
        "supernet": supernet,
        "seed": seed,
        "histograms": f"{stem}.safetensors",
        "report": f"{stem}.json",
    }


@pytest.fixture
def histograms(tmp_path) -> list[dict]:
    return [
        histogram(tmp_path, "svhn", "kappa0.25-sup", 0, [[10, 10, 0, 0], [0, 10, 10, 0]]),
        histogram(tmp_path, "svhn", "kappa0.25-sup", 1, [[20, 0, 0, 0], [0, 10, 10, 0]]),
        histogram(tmp_path, "svhn", "kappa1-sup", 0, [[0, 0, 5, 15], [0, 0, 10, 10]]),
    ]


def test_figure3_plots_shares(histograms, tmp_path):
    rows = figure3_rows(histograms)
    figure = draw_figure3(rows)
    assert [axes.get_title() for axes in figure.axes] == ["κ = 1", "κ = 0.25", ""]
    one, quarter, bar = figure.axes
    for panel, expected in (
        (one, [[25, 75], [50, 50]]),
        (quarter, [[75, 25, 0], [0, 50, 50]]),  # the mean over two seeds
    ):
        (mesh,) = panel.collections
        assert pytest.approx(np.array(expected)) == np.asarray(mesh.get_array()).T
        assert (mesh.norm.vmin, mesh.norm.vmax) == (0, 75)  # one scale for all
        assert panel.get_yscale() == "log"
    assert one.get_ylim() == quarter.get_ylim()
    assert one.get_ylabel() == "SVHN\n|θ|"
    assert bar.get_ylabel() == "Weights per bin (%)"
    median, eighth = (line.get_ydata() for line in one.get_lines())
    assert median == pytest.approx([10 ** (-1 + 1 / 3), 0.1])
    assert eighth == pytest.approx([10 ** (-1 / 6), 10**-0.25])
    output = outputs(tmp_path)
    write_figure3(histograms, output)
    csv_rows = written(output)
    assert len(csv_rows) == 4 + 4
    assert csv_rows[0]["kappa"] == "0.25"
    assert float(csv_rows[0]["share"]) == 0.75
    assert (float(csv_rows[0]["magnitude_low"]), csv_rows[0]["seeds"]) == (1e-4, "0 1")


def test_quantiles_of_a_histogram():
    shares = np.array([0.25, 0.0, 0.75])
    edges = np.array([1.0, 10.0, 100.0, 1000.0])
    assert quantile_of(shares, edges, 0.125) == pytest.approx(10**0.5)
    assert quantile_of(shares, edges, 0.625) == pytest.approx(10**2.5)


def test_figure3_names_what_is_missing(histograms, tmp_path):
    gone = histograms[2] | {"histograms": None, "missing": "not finished"}
    requests = [*histograms[:2], gone]
    figure = draw_figure3(figure3_rows(requests))
    assert says(figure, "Missing: SVHN κ = 1 seed 0 (not finished).")
    assert [text.get_text() for text in panel_of(figure, "κ = 1").texts] == ["not finished"]
    output = outputs(tmp_path)
    write_figure3([gone], output)
    assert [row["missing"] for row in written(output)] == ["not finished"]


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"counts": np.ones((2, 3), int), "edges": EDGES}, r"shape \(2, 3\)"),
        ({"counts": np.ones((3, 4), int), "edges": EDGES}, "other epochs or bins"),
        ({"counts": np.array([[1, 1, 1, 1], [1, 1, 1, 2]]), "edges": EDGES}, "same number"),
        ({"counts": np.zeros((2, 4), int), "edges": EDGES}, "same number"),
        ({"counts": np.ones((2, 4), int), "edges": EDGES[::-1]}, "do not rise"),
        ({"counts": np.ones((2, 4), int), "edges": EDGES * np.nan}, "not finite"),
        ({"edges": EDGES}, "cannot be read as safetensors"),
    ],
)
def test_figure3_refuses_bad_histograms(histograms, arrays, message):
    write_arrays(histograms[1]["histograms"], arrays)
    with pytest.raises(UserError, match=message) as error:
        figure3_rows(histograms)
    assert histograms[1]["histograms"] in str(error.value)


def test_figure3_refuses_truncated_and_foreign_files(histograms):
    path = Path(histograms[0]["histograms"])
    whole = path.read_bytes()
    path.write_bytes(whole[:-8])
    with pytest.raises(UserError, match=f"{path.name} cannot be read as safetensors"):
        figure3_rows(histograms)
    path.write_bytes(whole)
    with pytest.raises(UserError, match="dataset 'svhn', not 'cifar10'"):
        figure3_rows([histograms[0] | {"dataset": "cifar10"}])
    with pytest.raises(UserError, match="has no κ"):
        figure3_rows([histograms[0] | {"supernet": "dense"}])


# ---- figure 4


def trained(folder: Path, dataset: str, method: str, weight: np.ndarray, **network) -> dict:
    stem = folder / f"{dataset}-{method}"
    write_arrays(f"{stem}.safetensors", {"encoder.1.weight": weight.astype(np.float32)})
    run = f"{dataset}/net/{METHODS[method]}/seed0"
    report = {"run": run, "dataset": dataset, "first_layer": "encoder.1.weight", "network": network}
    write_json(f"{stem}.json", report)
    groups = [
        {"column": "age", "start": 0, "stop": 1},
        {"column": "colour", "start": 1, "stop": 4},
        {"column": "shape", "start": 4, "stop": 6},
    ]
    write_json(folder / "preprocessing.json", {"groups": groups})
    return {
        "dataset": dataset,
        "supernet": METHODS[method],
        "method": method,
        "seed": 0,
        "weights": f"{stem}.safetensors",
        "report": f"{stem}.json",
        "preprocessing": str(folder / "preprocessing.json"),
    }


@pytest.fixture
def layers(tmp_path) -> tuple[list[dict], list[dict]]:
    """Networks of 2 × 2 images with 8 units, and of tables with 6 inputs and 5 units."""
    units = np.arange(1, 9)[:, None] * -np.linspace(0.1, 1.2, 12)[None, :]
    units[0] *= 100  # the largest norm
    image = [
        trained(tmp_path, "cifar10", "iunet", units, side=2, channels=3),
        trained(tmp_path, "cifar10", "omp", units / 2, side=2, channels=3),
    ]
    table = np.arange(30).reshape(5, 6) - 15.0
    tabular = [
        trained(tmp_path, "arrhythmia", "iunet", table),
        trained(tmp_path, "arrhythmia", "omp", table / 3),
    ]
    return image, tabular


def test_figure4_pictures_are_the_strongest_units(layers):
    found = figure4_layers(*layers)
    assert found[0].units.tolist() == [0, 7, 6, 5, 4, 3]
    figure = draw_figure4(found)
    pictures = [axes for axes in figure.axes if axes.get_title().startswith("unit")]
    assert [axes.get_title() for axes in pictures] == [f"unit {u}" for u in [0, 7, 6, 5, 4, 3]] * 2
    top = np.percentile(found[0].magnitudes, 99.5)
    # Unit 7 of IUNET: weights 8 · (0.1 … 1.2), channel after channel.
    expected = 8 * np.linspace(0.1, 1.2, 12).reshape(3, 2, 2) / top
    picture = np.asarray(pictures[1].images[0].get_array())
    assert picture.shape == (2, 2, 3)
    for channel in range(3):
        assert picture[:, :, channel] == pytest.approx(expected[channel], rel=1e-5)
    # The same unit of the other method has half the weights, and looks the same: κ scales them.
    assert np.asarray(pictures[7].images[0].get_array()) == pytest.approx(picture, rel=1e-5)
    assert says(figure, f"brightest from |θ| = {top:.2g} on")
    assert says(figure, f"brightest from |θ| = {top / 2:.2g} on")


def test_figure4_matrices_have_their_own_scales_and_group_inputs(layers):
    figure = draw_figure4(figure4_layers(*layers))
    iunet = panel_of(figure, "IUNET, arrhythmia")
    omp = panel_of(figure, "sup (OMP), arrhythmia")
    table = np.abs(np.arange(30).reshape(5, 6) - 15.0)
    for panel, expected in ((iunet, table), (omp, table / 3)):
        (mesh,) = panel.collections
        assert np.asarray(mesh.get_array()) == pytest.approx(expected, rel=1e-6)
        assert mesh.norm.vmin == 0
        assert mesh.norm.vmax == pytest.approx(np.percentile(expected, 99.5))
        assert mesh.get_rasterized()
        assert list(panel.get_xticks()) == [0.5, 2.5, 5]
        assert [t.get_text() for t in panel.get_xticklabels()] == ["age", "colour", "shape"]
        (strip,) = panel.child_axes
        spans = [(p.get_x(), p.get_x() + p.get_width()) for p in strip.patches]
        assert spans == [(1, 4), (4, 6)]  # the one-hot groups
        assert panel.get_ylim() == (5, 0)  # the first unit on top
    bars = [axes for axes in figure.axes if axes.get_ylabel() == "|θ|"]
    assert len(bars) == 2
    figure.draw_without_rendering()
    assert all(text.get_size() >= SMALL for text in figure.findobj(Text) if text.get_text())


def test_figure4_measures_the_largest_eighth(layers, tmp_path):
    # The 12 largest of 96 weights are all of unit 0: its four pixels are all that there is.
    found = figure4_layers(*layers)
    assert found[0].measures["layer"] == {
        "value": pytest.approx(found[0].measures["layer"]["shuffled"]),
        "shuffled": pytest.approx((4 + 2 * 2**0.5) / 6),
        "ratio": pytest.approx(1),
        "units": 8,
        "left_out": 7,
    }
    assert found[0].measures["shown"]["left_out"] == 5
    figure = draw_figure4(found)
    assert says(figure, "locality 1.000 (units shown), 1.000 (whole layer)")
    assert says(figure, "fewer than two pixels: 7 of 8 (IUNET), 7 of 8 (OMP).")
    # -15, -14 and -13 are age and colour of unit 0, 14 is shape of unit 4: three in five units.
    assert panel_of(figure, "IUNET, arrhythmia").get_xlabel() == (
        f"selectivity {found[2].measures['layer']['ratio']:.3f} (0.6 raw features per unit)"
    )
    assert says(figure, "Kept: the largest eighth of the layer.")
    output = outputs(tmp_path)
    write_figure4(*layers, output)
    ratios = {
        (row["dataset"], row["method"]): float(row["value"])
        for row in written(output)
        if row["measure"].endswith("layer ratio")
    }
    assert ratios == {(f.dataset, f.method): f.measures["layer"]["ratio"] for f in found}


def test_figure4_says_when_a_measure_says_nothing(tmp_path):
    # The three weights kept are one pixel's channels; every raw feature has one column.
    weight = np.zeros((2, 12))
    weight[0, [0, 4, 8]] = 1
    image = trained(tmp_path, "cifar10", "iunet", weight, side=2, channels=3)
    table = trained(tmp_path, "arrhythmia", "iunet", np.ones((4, 6)))
    groups = [{"column": str(i), "start": i, "stop": i + 1} for i in range(6)]
    write_json(table["preprocessing"], {"groups": groups})
    figure = draw_figure4(figure4_layers([image], [table]))
    assert says(figure, "locality: no unit keeps two pixels")
    assert says(figure, "0.8 raw features per unit (shuffled: the same, each has one column)")


def test_largest_keeps_exactly_its_share():
    magnitudes = np.array([[3.0, 1.0, 1.0, 2.0], [1.0, 1.0, 0.0, 0.0]])
    assert largest(magnitudes, 2).astype(int).tolist() == [[1, 1, 1, 1], [0, 0, 0, 0]]
    assert largest(magnitudes, 8).sum() == 1
    assert largest(magnitudes, 1).all()
    assert not largest(magnitudes[:, :1], 8).any()


def test_names_of_features_keep_their_distance():
    groups = [{"column": str(i), "start": i, "stop": i + 1} for i in range(10)]
    groups.append({"column": "wide", "start": 10, "stop": 14})
    assert [g["column"] for g in named_groups(groups, 1)] == [*map(str, range(10)), "wide"]
    assert [g["column"] for g in named_groups(groups, 4)] == ["0", "4", "wide"]


def test_figure4_csv(layers, tmp_path):
    output = outputs(tmp_path)
    write_figure4(*layers, output)
    rows = [row for row in written(output) if not row["measure"]]
    assert len(rows) == 2 * 6 * 12 + 2 * 5 * 6
    # Units in their order, inputs as the network has them: channel, then row, then column.
    assert rows[12 + 5] == {
        "part": "image",
        "dataset": "cifar10",
        "method": "iunet",
        "seed": "0",
        "unit": "7",
        "input": "5",
        "feature": "G y0 x1",
        "magnitude": "4.8",
        "measure": "",
        "value": "",
        "missing": "",
    }
    assert [row["feature"] for row in rows[144:150]] == ["age", *["colour"] * 3, *["shape"] * 2]
    assert float(rows[144 + 7]["magnitude"]) == abs(7 - 15)


def test_figure4_with_missing_runs_or_one_half(layers, tmp_path):
    image, tabular = layers
    image[0] |= {"weights": None, "missing": "not finished"}
    figure = draw_figure4(figure4_layers(image, []))
    assert says(figure, "Missing: CIFAR10, IUNET (not finished).")
    assert len([axes for axes in figure.axes if axes.get_title().startswith("unit")]) == 6
    output = outputs(tmp_path)
    write_figure4(image, tabular, output)
    assert [row["missing"] for row in written(output)][:2] == ["not finished", ""]
    write_figure4([], [r | {"weights": None, "missing": "gone"} for r in tabular], output)
    assert [row["missing"] for row in written(output)] == ["gone", "gone"]


def test_figure4_refuses_what_does_not_fit(layers, tmp_path):
    image, tabular = layers
    seven = trained(tmp_path, "wine", "iunet", np.ones((5, 7)))
    nan = trained(tmp_path, "digits", "iunet", np.full((5, 6), np.nan))
    grey = trained(tmp_path, "grey", "iunet", np.ones((8, 4)), side=2, channels=1)
    wide = trained(tmp_path, "wide", "iunet", np.ones((8, 12)), side=3, channels=3)
    for images, tables, message in (
        ([], [seven], r"wine-iunet.safetensors has a first layer of shape \(5, 7\), .* 6 inputs"),
        ([], [nan], "digits-iunet.safetensors has .* not finite"),
        ([grey], [], "grey-iunet.json is of images with 1 channels"),
        ([wide], [], r"wide-iunet.safetensors .* 3 × 3 × 3 inputs"),
        ([], [tabular[0] | {"dataset": "wine"}], "is of the dataset 'arrhythmia', not 'wine'"),
        ([], [tabular[0] | {"weights": "nowhere"}], "nowhere cannot be read"),
        ([], [tabular[0] | {"preprocessing": image[0]["report"]}], "which raw feature"),
        ([image[0], wide], [], "was asked for several"),
        ([image[0], image[0]], [], "twice"),
        ([], [], "list of runs is empty"),
    ):
        with pytest.raises(UserError, match=message):
            figure4_layers(images, tables)


# ---- tuning history


def trials(folder: Path, method: str, lines: list[str], budget: int | None = None) -> dict:
    path = folder / f"{method}.csv"
    header = "number,state,score,seconds,fit_seconds,reason,flags,eta"
    path.write_text("\n".join([header, *lines]) + "\n")
    return {"dataset": "vehicle", "method": method, "trials": str(path), "budget": budget}


@pytest.fixture
def studies(tmp_path) -> list[dict]:
    return [
        trials(
            tmp_path,
            "xgb",
            [
                "1,complete,70.5,1,1,,,0.1",
                "0,failed,,2.5,,out of memory,,0.2",
                "2,complete,65,1,1,,time_limit,0.3",
                "3,complete,80,1,1,,,0.3",
            ],
            budget=40,
        ),
        trials(tmp_path, "tabnet", ["0,complete,60,1,1,,,0.1", "1,complete,61,1,1,,,0.1"], 2),
        trials(tmp_path, "mlp_c", ["0,failed,,,,died,,0.1"], 1),
    ]


def test_tuning_history(studies, tmp_path):
    rows = tuning_rows(studies)
    assert [row["number"] for row in rows[:4]] == [0, 1, 2, 3]
    assert [row["best_so_far"] for row in rows[:4]] == [None, 70.5, 70.5, 80]
    figure = draw_tuning_history(rows)
    assert [axes.get_title() for axes in figure.axes] == [
        "XGB: 4 of 40 trials, 1 failed",
        "TABN: 2 trials",
        "MLP_TAB+C: 1 trial, 1 failed",
    ]
    xgb, tabnet, mlp_c = figure.axes
    dots = {c.get_label(): np.asarray(c.get_offsets()).tolist() for c in xgb.collections}
    assert dots["trial"] == [[1, 70.5], [3, 80]]
    assert dots["flagged"] == [[2, 65]]
    assert dots["failed"] == [[0, 0.03]]  # at the bottom: a part of the panel's height
    best = line(xgb, "best so far")
    assert (list(best.get_xdata()), list(best.get_ydata())) == ([1, 2, 3], [70.5, 70.5, 80])
    assert best.get_drawstyle() == "steps-post"
    assert [c.get_label() for c in tabnet.collections] == ["trial"]
    assert [text.get_text() for text in mlp_c.texts] == ["every trial failed"]
    assert says(figure, "vehicle")
    output = outputs(tmp_path)
    write_tuning_history(studies, output)
    csv_rows = written(output)
    assert len(csv_rows) == 7
    assert csv_rows[0]["reason"] == "out of memory" and csv_rows[2]["flags"] == "time_limit"


def test_tuning_history_of_one_method_and_of_none(studies, tmp_path):
    gone = studies[1] | {"trials": None, "missing": "not finished"}
    figure = draw_tuning_history(tuning_rows([studies[0], gone]))
    assert figure.axes[1].get_title() == "TABN: 0 of 2 trials"
    assert says(figure, "Missing: TABN (not finished).")
    output = outputs(tmp_path)
    write_tuning_history([gone], output)
    assert written(output)[0]["missing"] == "not finished"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "has no trials"),
        (["0,complete,nan,1,1,,,1"], "nan as the score of trial 0"),
        (["0,complete,,1,1,,,1"], "'' as the score of trial 0"),
        (["0,complete,high,1,1,,,1"], "'high' as the score of trial 0"),
        (["0,running,50,1,1,,,1"], "state 'running' in trial 0"),
        (["0,complete,50,1,1,,,1", "0,complete,51,1,1,,,1"], "trial 0 twice"),
        (["0,complete,50,1,1,,,1", "1,comp"], "lacks score, seconds, reason, flags"),
        (["zero,complete,50,1,1,,,1"], "not a trial, with the number 'zero'"),
        (["0,complete,50,1,1,,,1,2,3"], "not a trial"),
    ],
)
def test_tuning_history_refuses_bad_trials(tmp_path, lines, message):
    request = trials(tmp_path, "xgb", lines)
    with pytest.raises(UserError, match=message) as error:
        tuning_rows([request])
    assert request["trials"] in str(error.value)


def test_tuning_history_refuses_bad_requests(studies):
    for requests, message in (
        ([studies[0] | {"trials": "nowhere.csv"}], "nowhere.csv does not exist"),
        ([studies[0], studies[1] | {"dataset": "wine"}], "of one data set"),
        ([studies[0], studies[0]], "twice"),
    ):
        with pytest.raises(UserError, match=message):
            tuning_rows(requests)


# ---- critical difference

RANKS = {"iunet": 1.4, "omp": 2.2, "dense": 2.4, "xgb": 4.0}
P_VALUES = {
    "iunet": {"omp": 0.001, "dense": 0.2, "xgb": 0.001},
    "omp": {"dense": 0.9, "xgb": 0.01},
    "dense": {"xgb": 0.03},
}


def test_critical_difference_joins_what_does_not_differ():
    rows = critical_difference_rows(RANKS, P_VALUES, 0.05, 40)
    assert [(row["method"], row["other"]) for row in rows] == list(
        itertools.combinations(["iunet", "omp", "dense", "xgb"], 2)
    )
    assert [row["differ"] for row in rows] == [True, False, True, False, True, True]
    figure = draw_critical_difference(rows, 40, "balanced accuracy", 0.05)
    (axes,) = figure.axes
    bars = [line for line in axes.get_lines() if line.get_linewidth() > 2]
    # Two cliques, not one bar over all three: iunet and omp do differ.
    assert sorted(tuple(bar.get_xdata()) for bar in bars) == [(1.4, 2.4), (2.2, 2.4)]
    elbows = {line.get_color(): line.get_xdata()[-1] for line in axes.get_lines()}
    assert {LOOKS[method].colour: rank for method, rank in RANKS.items()}.items() <= elbows.items()
    labels = {text.get_text().strip() for text in axes.texts}
    assert labels == {"IUNET  1.40", "OMP  2.20", "2.40  Dense", "4.00  XGB"}
    assert list(axes.get_xticks()) == [1, 2, 3, 4]
    assert says(figure, "Average rank over 40 data sets by balanced accuracy")


def test_critical_difference_files(tmp_path):
    output = outputs(tmp_path)
    settings = {"n_datasets": 40, "metric": "balanced accuracy"}
    write_critical_difference(RANKS, P_VALUES, output, **settings)
    rows = written(output)
    assert len(rows) == 6 and rows[1]["p_value"] == "0.2" and rows[1]["differ"] == "False"
    write_critical_difference(RANKS, {}, output, **settings, not_enough="two data sets")
    rows = written(output)
    assert [row["method"] for row in rows] == list(RANKS)
    assert {row["missing"] for row in rows} == {"two data sets"}
    write_critical_difference({}, {}, output, **settings, not_enough="nothing is finished")
    assert [row["missing"] for row in written(output)] == ["nothing is finished"]


def test_critical_difference_says_why_there_is_none():
    rows = critical_difference_rows(RANKS, {}, 0.05, 2, "two data sets")
    figure = draw_critical_difference(rows, 2, "accuracy", 0.05, "mlp_tab")
    assert says(figure, "Not enough data to test differences: two data sets")
    assert says(figure, "IUNET 1.40, OMP 2.20, MLP_TAB 2.40, XGB 4.00")


def test_critical_difference_refuses_bad_values():
    pair = {"iunet": 1.0, "omp": 2.0}
    for ranks, p_values, message in (
        ({"iunet": 1.0}, {}, "1 method"),
        (pair, {}, "no p-value for iunet and omp"),
        (pair, {"iunet": {"omp": 0.1}, "omp": {"iunet": 0.2}}, "two p-values"),
        (pair, {"omp": {"iunet": 1.5}}, "has 1.5 as the p-value"),
        (pair, {"omp": {"iunet": float("nan")}}, "not a finite number"),
        (pair | {"omp": float("nan")}, {"omp": {"iunet": 0.5}}, "nan as omp"),
    ):
        with pytest.raises(UserError, match=message):
            critical_difference_rows(ranks, p_values, 0.05, 10)


# ---- files

ALL_FIGURES = """
import json, sys
from iunet.figures.critical_difference import write_critical_difference
from iunet.figures.figure2 import write_figure2
from iunet.figures.figure3 import write_figure3
from iunet.figures.figure4 import write_figure4
from iunet.figures.tuning_history import write_tuning_history
data = json.load(open(sys.argv[1]))
output = lambda name: {kind: f"{sys.argv[2]}/{name}.{kind}" for kind in ("pdf", "png", "csv")}
write_figure2(data["sweep"], output("figure2"))
write_figure3(data["histograms"], output("figure3"))
write_figure4(*data["layers"], output("figure4"))
write_tuning_history(data["studies"], output("tuning"))
write_critical_difference(*data["cd"], output("cd"), n_datasets=40, metric="accuracy")
"""


def test_the_same_data_give_the_same_bytes(sweep, histograms, layers, studies, tmp_path):
    data = {
        "sweep": sweep,
        "histograms": histograms,
        "layers": layers,
        "studies": studies,
        "cd": [RANKS, P_VALUES],
    }
    (tmp_path / "data.json").write_text(json.dumps(data))
    made = []
    for seed in ("1", "2"):  # of Python's hashes, by which sets are ordered
        folder = tmp_path / seed
        folder.mkdir()
        environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-c", ALL_FIGURES, str(tmp_path / "data.json"), str(folder)]
        subprocess.run(command, env=environment, check=True, timeout=300)
        made.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert len(made[0]) == 5 * 3  # and no temporary file is left
    assert made[0] == made[1]
    assert not any(b"CreationDate" in content for content in made[0].values())

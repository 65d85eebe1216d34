"""Figures for experiments of a user's own: scores and layer densities."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from figure_inputs import line, says, texts
from matplotlib.colors import to_hex
from matplotlib.text import Text

from iunet.figures.densities import densities as density_rows
from iunet.figures.densities import draw as draw_densities
from iunet.figures.parts import draw_curves
from iunet.figures.scores import draw as draw_scores
from iunet.figures.scores import scores as score_rows
from iunet.figures.style import LOOKS, PAGE_WIDTH, SMALL, new_figure
from iunet.results.collect import Results, runs_frame

# ---- curves


def test_a_curve_has_gaps_and_bands():
    panel = new_figure(3, 3)[1].subplots()
    points = [(1, 1.0), (1, 3.0), (2, 4.0), (2, 4.0), (3, None)]
    frame = pd.DataFrame(points, columns=["at", "score"]).assign(method="mine", disconnected=False)
    draw_curves(panel, frame, "at", "score")
    curve = line(panel, "mine").get_ydata()
    assert curve == pytest.approx([2, 4, np.nan], nan_ok=True)
    (band,) = panel.collections
    corners = np.concatenate([path.vertices for path in band.get_paths()])
    assert corners[corners[:, 0] == 1, 1].min() == 2 - 2**0.5
    assert corners[corners[:, 0] == 1, 1].max() == 2 + 2**0.5


# ---- scores


def score(dataset, method, seed, value, network="mlp_tab", metric="balanced_accuracy") -> dict:
    missing = isinstance(value, str)
    return {
        "dataset": dataset,
        "network": network,
        "method": method,
        "seed": seed,
        "metric": metric,
        "value": None if missing else value,
        "disconnected": False,
        "missing": value if missing else None,
    }


@pytest.fixture
def scores() -> list[dict]:
    return some_scores()


def some_scores() -> list[dict]:
    return [
        score("vehicle", "iunet", 0, 80.0),
        score("vehicle", "iunet", 1, 82.0),
        score("vehicle", "omp", 0, 70.0),
        score("vehicle", "omp", 1, "not finished"),
        score("kc1", "iunet", 0, 60.0),
        score("kc1", "iunet", 1, 60.0),
        score("kc1", "omp", 0, "not finished"),
        score("kc1", "omp", 1, "not finished"),
    ]


def dots(panel) -> dict[float, list[float]]:
    """The values of the seeds by line of the panel."""
    found: dict[float, list[float]] = {}
    for x, y in np.asarray(panel.collections[-1].get_offsets()).tolist():
        found.setdefault(y, []).append(x)
    return {y: found[y] for y in sorted(found)}


def test_scores_are_dots_over_their_mean(scores):
    figure = draw_scores(scores)
    assert [axes.get_title() for axes in figure.axes] == ["vehicle", "kc1"]
    vehicle, kc1 = figure.axes
    assert [text.get_text() for text in vehicle.get_yticklabels()] == ["OMP", "IUNET"]
    assert vehicle.get_ylim() == kc1.get_ylim() == (1.5, -0.5)
    assert dots(vehicle) == {0: [70], 1: [80, 82]}
    ((means, _, (spreads,)),) = vehicle.containers
    assert means.get_xydata().tolist() == [[70, 0], [81, 1]]
    seeds = vehicle.collections[-1]
    assert means.get_zorder() < seeds.get_zorder()
    assert spreads.get_segments()[1][:, 0] == pytest.approx([81 - 2**0.5, 81 + 2**0.5])
    colours = [to_hex(colour).upper() for colour in seeds.get_edgecolors()]
    assert colours == [LOOKS[method].colour for method in ("iunet", "iunet", "omp")]
    assert dots(kc1) == {1: [60, 60]}
    assert not any(axes.get_legend() for axes in figure.axes)
    assert says(figure, "Balanced accuracy (%)")
    assert says(figure, "Missing: vehicle, OMP (some seeds): not finished; kc1, OMP: not finished.")
    assert not says(figure, "Hollow dot")
    scores[2]["disconnected"] = True
    figure = draw_scores(scores)
    assert says(figure, "Hollow dot: a layer lost all its weights.")
    assert to_hex(figure.axes[0].collections[-1].get_facecolors()[2]) == "#ffffff"


def test_scores_are_test_scores_of_the_kind_of_data():
    run = {"seed": 0, "stage": "dense", "supernet": "dense", "cut": None, "missing": None}
    run |= {"test_accuracy": 60.0, "test_balanced_accuracy": 50.0, "disconnected": False}
    runs = runs_frame(
        [
            run | {"dataset": "photo", "network": "mlp_vis", "method": "mine"},
            run | {"dataset": "wine", "network": "xgb", "method": "xgb", "stage": "tuned"},
            run | {"dataset": "wine", "network": "mlp_tab", "method": "omp", "missing": "gone"},
        ]
    )
    found = score_rows(runs)
    assert [(r["metric"], r["value"]) for r in found[:2]] == [
        ("accuracy", 60.0),
        ("balanced_accuracy", 50.0),
    ]
    assert found[1]["network"] is None and found[2]["missing"] == "gone"


def test_scores_name_networks_where_a_method_has_several():
    rows = [
        score("cifar10", "dense", 0, 50.0, "mlp_vis", "accuracy"),
        score("cifar10", "dense", 0, 60.0, "cnn", "accuracy"),
        score("cifar10", "iunet", 0, 60.0, "mlp_vis", "accuracy"),
        score("cifar10", "iunet", 0, 61.0, "cnn", "accuracy"),
        score("wine", "xgb", 0, 70.0, None),
    ]
    figure = draw_scores(rows)
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()] == [
        "MLP_VIS",
        "CNN",
        "IUNET on MLP_VIS",
        "IUNET on CNN",
        "XGB",
    ]
    # Other metrics: every panel names its own.
    assert [axes.get_xlabel() for axes in figure.axes] == ["Accuracy (%)", "Balanced accuracy (%)"]
    assert says(figure, "Bar: the mean.")  # one seed has no deviation


def test_scores_of_all_sizes_fit_a_page():
    methods = [*list(LOOKS)[:11], "my_own"]
    for n_methods, n_datasets in ((12, 12), (1, 1), (2, 5)):
        rows = [
            score(f"data-set-{i}", method, seed, 50.0 + seed + i)
            for i in range(n_datasets)
            for method in methods[:n_methods]
            for seed in (0, 1)
        ]
        figure = draw_scores(rows)
        width, height = figure.get_size_inches()
        assert width <= PAGE_WIDTH + 1e-6 and height < 12
        assert sum(bool(axes.get_title()) for axes in figure.axes) == n_datasets
        figure.draw_without_rendering()
        assert all(text.get_size() >= SMALL for text in figure.findobj(Text) if text.get_text())
        labels = figure.axes[0].get_yticklabels()
        boxes = [label.get_window_extent() for label in labels]
        assert len(boxes) == n_methods
        assert all(a.y0 >= b.y1 - 1 for a, b in itertools.pairwise(boxes))


def test_a_data_set_without_a_score_is_named_with_the_reason(scores):
    gone = [row | {"value": None, "missing": "not finished"} for row in scores[:4]]
    figure = draw_scores([*gone, *scores[4:]])
    assert [axes.get_title() for axes in figure.axes] == ["kc1"]
    assert says(figure, "Missing: vehicle, all runs: not finished; kc1, OMP")


# ---- densities


def layers_of(method, seed, values, *, expected=None, dataset="svhn", network="cnn", ratio=8.0):
    """A row per layer, or one with the reason why there is none."""
    run = {"dataset": dataset, "network": network, "method": method, "seed": seed, "ratio": ratio}
    if isinstance(values, str):
        empty = dict.fromkeys(("layer", "weight", "density", "expected"))
        return [{**run, **empty, "missing": values}]
    expected = expected or [None] * len(values)
    return [
        {**run, "layer": i, "weight": f"l{i}", "density": d, "expected": e, "missing": None}
        for i, (d, e) in enumerate(zip(values, expected, strict=True))
    ]


@pytest.fixture
def densities() -> list[dict]:
    return some_densities()


def some_densities() -> list[dict]:
    initial = [0.02, 0.0, 0.5]
    return [
        *layers_of("omp", 0, [0.02, 0.0, 0.5], expected=initial),
        *layers_of("omp", 1, [0.04, 0.0, 0.7], expected=initial),
        *layers_of("iunet", 0, [0.1, 0.0, 0.3], expected=initial),
        *layers_of("iunet", 1, [0.2, 0.06, 0.4], expected=initial),
        *layers_of("omp", 0, [0.1, 0.2], expected=[0.1, 0.1], network="mlp_vis"),
        *layers_of("iunet", 0, "not finished", network="mlp_vis"),
    ]


def test_densities_are_means_with_ranges(densities):
    figure = draw_densities(densities)
    cnn, mlp = figure.axes
    assert [axes.get_title() for axes in (cnn, mlp)] == [
        "SVHN, CNN\nratio 8",
        "SVHN, MLP_VIS\nratio 8",
    ]
    assert line(cnn, "omp").get_ydata().tolist() == pytest.approx([0.03, 0, 0.6])
    assert line(cnn, "iunet").get_ydata().tolist() == pytest.approx([0.15, 0.03, 0.35])
    (band,) = [c for c in cnn.collections if c.get_label() == "iunet"]
    corners = np.concatenate([path.vertices for path in band.get_paths()])
    for layer, low, high in ((0, 0.1, 0.2), (1, 0, 0.06), (2, 0.3, 0.4)):
        heights = corners[corners[:, 0] == layer, 1]
        assert (heights.min(), heights.max()) == pytest.approx((low, high))
    assert cnn.get_ylim() == mlp.get_ylim()
    scale = cnn.yaxis.get_transform()  # half a decade below 0.02, and a power of ten
    assert cnn.get_yscale() == "symlog" and scale.linthresh == pytest.approx(0.001)
    figure.draw_without_rendering()
    assert [t.get_text() for t in cnn.get_yticklabels()] == ["0", "0.001", "0.01", "0.1", "1"]
    # Cut off in both seeds of the one, in one seed of the other.
    for method, height in (("omp", 0), ("iunet", 0.03)):
        hollow = line(cnn, f"{method} disconnected")
        assert hollow.get_xydata().tolist() == [[1, pytest.approx(height)]]
        assert hollow.get_markerfacecolor() == "white"
    assert says(figure, "Hollow marker: in some seed the layer lost all its weights")
    assert says(figure, "Missing: SVHN, IUNET on MLP_VIS: not finished.")
    assert all(text.get_size() >= SMALL for text in figure.findobj(Text) if text.get_text())


def test_densities_have_one_line_for_equal_initial_weights(densities):
    figure = draw_densities(densities)
    cnn, mlp = figure.axes
    assert line(cnn, "expected").get_ydata() == pytest.approx([0.02, 0, 0.5])
    assert line(cnn, "expected").get_linestyle() == "--" and line(mlp, "expected")
    assert "from initial weights" in texts(figure) and says(figure, "Dashed")
    figure = draw_densities([row | {"expected": None} for row in densities])
    assert "from initial weights" not in texts(figure) and not says(figure, "Dashed")


def test_densities_of_one_seed_and_of_other_ratios():
    rows = [
        *layers_of("omp", 0, [0.0, 0.5], ratio=4.0),
        *layers_of("iunet", 0, [0.3, 0.3]),
        *layers_of("beta_lasso", 0, [0.3, 0.3], ratio=None),
    ]
    figure = draw_densities(rows)
    (panel,) = figure.axes
    assert panel.get_title() == "SVHN, CNN\nratio 4, 8"
    assert says(figure, "One seed: no bands.")
    assert line(panel, "omp").get_ydata().tolist() == pytest.approx([0, 0.5])


def test_densities_have_a_row_per_layer_and_what_is_expected():
    run = {"dataset": "svhn", "network": "mlp_vis", "seed": 0, "stage": "subnetwork"}
    run |= {"supernet": "kappa1-sup", "cut": "ratio8", "ratio": 8, "chosen": True, "missing": None}
    lists = {"layer_weight": ["l1", "l2"], "layer_shape": ["8x8", "8x8"], "layer_kept": [6, 10]}
    lists |= {"layer_dead_units": [0, 0], "layer_density": [6 / 64, 10 / 64]}
    found = [
        run | {"method": "iunet"} | lists,
        run | {"method": "omp", "chosen": None, "missing": "not finished"},
        run | {"method": "omp_relative", "cut": "ratio8-relative"} | lists,
        run | {"method": "beta_lasso", "cut": "survivors", "ratio": None} | lists,
    ]
    results = Results(runs_frame(found), None)
    first, second, missing, relative, _, survivors, _ = density_rows(results, "torch_default")
    assert (first["layer"], first["weight"], first["density"]) == (1, "l1", 6 / 64)
    assert first["expected"] == second["expected"] == pytest.approx(1 / 8)  # layers of one size
    assert missing["missing"] == "not finished" and missing["layer"] is None
    assert relative["expected"] is None  # by another score than the magnitude
    assert survivors["expected"] is survivors["ratio"] is None

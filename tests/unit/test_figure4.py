"""Figure 4: first-layer weights."""

from __future__ import annotations

import numpy as np
import pytest
from figure_inputs import (
    first_layers,
    outputs,
    panel_of,
    says,
    trained,
    written,
)
from matplotlib.text import Text

from iunet.artifacts import write_json
from iunet.errors import UserError
from iunet.figures.figure4 import draw_figure4, named_groups, write_figure4
from iunet.figures.first_layers import figure4_layers, largest
from iunet.figures.style import SMALL


@pytest.fixture
def layers(tmp_path) -> tuple[list[dict], list[dict]]:
    return first_layers(tmp_path)


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
        ([], [tabular[0] | {"weights": "nowhere"}], "nowhere does not exist"),
        ([], [tabular[0] | {"preprocessing": image[0]["report"]}], "which raw feature"),
        ([image[0], wide], [], "was asked for several"),
        ([image[0], image[0]], [], "twice"),
        ([], [], "list of runs is empty"),
    ):
        with pytest.raises(UserError, match=message):
            figure4_layers(images, tables)

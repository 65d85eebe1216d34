"""Figure 4: first-layer weights."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from figure_inputs import four_first_layers, gone, panel_of, says, trained
from matplotlib.text import Text

from iunet.artifacts import write_json
from iunet.errors import UserError
from iunet.figures.figure4 import draw, input_groups, largest, named_groups, weight_rows
from iunet.figures.style import SMALL


@pytest.fixture
def supernets(tmp_path) -> list[dict]:
    return four_first_layers(tmp_path)


def test_figure4_pictures_are_the_strongest_units(supernets):
    figure = draw(weight_rows(supernets))
    pictures = [axes for axes in figure.axes if axes.get_title().startswith("unit")]
    assert [axes.get_title() for axes in pictures] == [f"unit {u}" for u in [0, 7, 6, 5, 4, 3]] * 2
    shown = np.array([100, 8, 7, 6, 5, 4])[:, None] * np.linspace(0.1, 1.2, 12)
    top = np.percentile(shown, 99.5)
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


def test_figure4_matrices_have_their_own_scales_and_group_inputs(supernets):
    figure = draw(weight_rows(supernets))
    iunet = panel_of(figure, "IUNET, arrhythmia")
    omp = panel_of(figure, "sup (OMP), arrhythmia")
    table = np.abs(np.arange(30).reshape(5, 6) - 15.0)
    for panel, expected in ((iunet, table), (omp, table / 3)):
        (mesh,) = panel.collections
        assert np.asarray(mesh.get_array()) == pytest.approx(expected, rel=1e-5)
        assert mesh.norm.vmin == 0
        assert mesh.norm.vmax == pytest.approx(np.percentile(expected, 99.5), rel=1e-5)
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


def test_figure4_measures_the_largest_eighth(supernets):
    # The 12 largest of 96 weights are all of unit 0: its four pixels are all that there is.
    rows = weight_rows(supernets)
    found = {
        (row["dataset"], row["method"], row["measure"]): row["value"]
        for row in rows
        if row["measure"]
    }
    for measure, value in {
        "layer value": pytest.approx((4 + 2 * 2**0.5) / 6),
        "layer shuffled": pytest.approx((4 + 2 * 2**0.5) / 6),
        "layer ratio": pytest.approx(1),
        "layer units": 8,
        "layer left_out": 7,
        "shown left_out": 5,
    }.items():
        assert found["cifar10", "iunet", f"locality {measure}"] == value
    figure = draw(rows)
    assert says(figure, "locality 1.000 (7 of 8 units left out)")
    # -15, -14 and -13 are age and colour of unit 0, 14 is shape of unit 4: three in five units.
    ratio = found["arrhythmia", "iunet", "selectivity layer ratio"]
    label = f"selectivity {ratio:.3f} (0.6 raw features per unit)"
    assert panel_of(figure, "IUNET, arrhythmia").get_xlabel() == label
    assert says(figure, "Kept: the largest eighth of the layer.")


def test_figure4_says_when_a_measure_says_nothing(tmp_path):
    # The three weights kept are one pixel's channels; every raw feature has one column.
    weight = np.zeros((2, 12))
    weight[0, [0, 4, 8]] = 1
    image = trained(tmp_path, "cifar10", "iunet", weight, side=2, channels=3)
    table = trained(tmp_path, "arrhythmia", "iunet", np.ones((4, 6)))
    groups = [{"column": str(i), "start": i, "stop": i + 1} for i in range(6)]
    write_json(table["files"]["preprocessing"], {"groups": groups})
    figure = draw(weight_rows([image, table]))
    assert says(figure, "locality: no unit keeps two pixels")
    assert says(figure, "0.8 raw features per unit (shuffled: the same, each has one column)")


def test_largest_keeps_exactly_its_share():
    magnitudes = np.array([[3.0, 1.0, 1.0, 2.0], [1.0, 1.0, 0.0, 0.0]])
    assert largest(magnitudes, 2).astype(int).tolist() == [[1, 1, 1, 1], [0, 0, 0, 0]]
    assert largest(magnitudes, 8).sum() == 1
    assert largest(magnitudes, 1).all()
    assert not largest(magnitudes[:, :1], 8).any()


def test_names_of_features_keep_their_distance():
    features = [*map(str, range(10)), *["wide"] * 4]
    groups = input_groups(pd.DataFrame({"feature": features, "input": range(14)}))
    assert list(named_groups(groups, 1).index) == [*map(str, range(10)), "wide"]
    assert list(named_groups(groups, 4).index) == ["0", "4", "wide"]


def test_figure4_rows(supernets):
    rows = [row for row in weight_rows(supernets) if not row["measure"]]
    assert len(rows) == 2 * 6 * 12 + 2 * 5 * 6
    # Units in their order, inputs as the network has them: channel, then row, then column.
    keys = ("method", "unit", "input", "feature", "magnitude")
    assert [rows[12 + 5][key] for key in keys] == ["iunet", 7, 5, "G y0 x1", "4.8"]
    assert [row["feature"] for row in rows[144:150]] == ["age", *["colour"] * 3, *["shape"] * 2]
    assert float(rows[144 + 7]["magnitude"]) == abs(7 - 15)


def test_figure4_with_missing_runs_or_one_half(supernets):
    supernets[0] = gone(supernets[0], "not finished")
    figure = draw(weight_rows(supernets[:2]))
    assert says(figure, "Missing: CIFAR10, IUNET: not finished.")
    assert len([axes for axes in figure.axes if axes.get_title().startswith("unit")]) == 6
    assert weight_rows(supernets)[0]["missing"] == "not finished"
    rows = weight_rows([gone(supernet, "gone") for supernet in supernets[2:]])
    assert [row["missing"] for row in rows] == ["gone", "gone"]


def test_figure4_refuses_what_it_cannot_show(tmp_path):
    grey = trained(tmp_path, "grey", "iunet", np.ones((8, 4)), side=2, channels=1)
    with pytest.raises(UserError, match=r"grey-iunet-0.json is of images with 1: name another"):
        weight_rows([grey])

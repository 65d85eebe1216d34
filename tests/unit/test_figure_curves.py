"""Validation accuracy during training, of the published runs."""

from __future__ import annotations

import pandas as pd
import pytest
from conftest import ROOT
from figure_inputs import line, outputs, panel_of, says, written

from iunet.figures.curves import TRAININGS, draw, rows
from iunet.figures.make import write_figure
from iunet.figures.style import LOOKS
from iunet.shown import benchmark
from iunet.study.__main__ import read_config
from iunet.study.archive import unpack

SUPERNET, NETWORK = TRAININGS.values()


@pytest.fixture(scope="module")
def curves(tmp_path_factory):
    results = tmp_path_factory.mktemp("results")
    unpack(ROOT / "reports/cpu-study/reports.tar.xz", results)
    config = read_config() | {"results": str(results), "partial": True}
    shown = {"datasets": ["cifar10"], "methods": ["dense", "iunet", "iunet_only_horiz"]}
    config["figures"]["curves"] = shown
    return rows(benchmark(config), "curves")


def test_a_curve_has_every_validation(curves):
    frame = pd.DataFrame(curves).set_index(["method", "training", "seed"])["epoch"]
    epochs = list(range(10, 101, 10))
    for seed in (0, 1, 2):
        for training in TRAININGS:
            assert list(frame.loc["iunet", training, seed]) == epochs
        assert list(frame.loc["dense", "finetune", seed]) == epochs
    assert {row["method"] for row in curves if row["missing"]} == {"iunet_only_horiz"}


def test_both_trainings_are_drawn(curves, tmp_path):
    figure = draw(curves)
    mean = pd.DataFrame(curves).groupby(["method", "training", "epoch"])["valid_accuracy"].mean()
    for training, title in TRAININGS.items():
        curve = line(panel_of(figure, title), "iunet")
        assert list(curve.get_ydata()) == pytest.approx(list(mean["iunet", training]))
        assert curve.get_color() == LOOKS["iunet"].colour
    assert [c.get_label() for c in panel_of(figure, SUPERNET).get_lines()] == ["iunet"]
    assert [c.get_label() for c in panel_of(figure, NETWORK).get_lines()] == ["dense", "iunet"]
    assert says(figure, "Mean of 3 seeds") and says(figure, "IUNET only horiz: not finished")
    output = outputs(tmp_path)
    write_figure(figure, curves, output)
    assert len(written(output)) == len(curves)

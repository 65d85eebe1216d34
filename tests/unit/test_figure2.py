"""Figure 2: validation accuracy against compression."""

from __future__ import annotations

from statistics import stdev

import numpy as np
import pytest
from conftest import ROOT
from figure_inputs import METHODS, evaluated, line, outputs, ratio_sweep, says, written
from matplotlib.text import Text

from iunet.errors import UserError
from iunet.evaluation import evaluate
from iunet.figures.catalog import figure_request
from iunet.figures.figure2 import LENT_DECODER, draw, points
from iunet.figures.make import write_figure
from iunet.figures.style import LOOKS, SMALL
from iunet.results.collect import collect, runs_frame
from iunet.shown import benchmark
from iunet.study.__main__ import read_config
from iunet.study.archive import unpack


def drawn(records: list[dict]):
    return draw(points(runs_frame(records)))


def panels2(figure) -> dict[tuple[str, str], object]:
    """Panels by data set and sweep, row by row."""
    n = len(figure.axes) // 2
    titles = [panel.get_title() for panel in figure.axes[:n]]
    keys = [(title, sweep) for sweep in ("pis", "ilo") for title in titles]
    return dict(zip(keys, figure.axes, strict=True))


def legends(figure) -> list[list[str]]:
    found = [panel.get_legend() for panel in figure.axes if panel.get_legend()]
    return [[text.get_text() for text in legend.get_texts()] for legend in found]


def test_figure2_plots_means_and_bands():
    panels = panels2(drawn(ratio_sweep()))
    assert list(panels) == [(title, row) for row in ("pis", "ilo") for title in ("CIFAR10", "SVHN")]
    pis, ilo = panels["SVHN", "pis"], panels["SVHN", "ilo"]
    expected = {
        pis: ["omp", "iunet_no_ilo", "sup_kappa0.125", "iunet"],
        ilo: ["omp", "scl", "iunet_no_pis", "iunet"],
    }
    for panel, methods in expected.items():
        assert {line.get_label() for line in panel.get_lines()} == set(methods)
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
    assert [label.get_text() for label in ilo.get_xticklabels()] == ["1", "2", "8"]
    assert pis.get_ylim() == ilo.get_ylim()


def test_figure2_legends_and_fonts():
    figure = drawn(ratio_sweep())
    assert legends(figure) == [
        ["κ = 1 (OMP)", "κ = 0.25", "κ = 0.125", "IUNET (κ = 0.25, ILO)"],
        ["sup (OMP)", "SCL", "ILO", "IUNET (κ = 0.25, ILO)"],
    ]
    assert says(figure, "Mean of 2 seeds")
    figure.draw_without_rendering()
    assert all(text.get_size() >= SMALL for text in figure.findobj(Text) if text.get_text())


def test_figure2_one_seed_has_no_band(tmp_path):
    output = outputs(tmp_path)
    rows = points(runs_frame([record for record in ratio_sweep() if record["seed"] == 0]))
    figure = draw(rows)
    assert not any(panel.collections for panel in figure.axes)
    assert says(figure, "One seed: no bands.")
    write_figure(figure, rows, output)
    shown = written(output)
    assert len(shown) == 2 * len(METHODS) * 3
    assert shown[1] == {
        "dataset": "cifar10",
        "method": "omp",
        "supernet": "kappa1-sup",
        "kappa": "1.0",
        "objective": "sup",
        "seed": "0",
        "ratio": "2.0",
        "valid_accuracy": "60",
        "disconnected": "False",
        "decoder": "",
        "missing": "",
    }


def test_figure2_draws_what_is_there_and_names_what_is_missing():
    gone = {1: None, 2: None, 8: None}
    records = [
        *evaluated("cifar10", "omp", 0, {1: None, 2: 60, 8: 40}),
        *evaluated("cifar10", "omp", 1, gone),
        *evaluated("cifar10", "scl", 0, gone),
        *evaluated("cifar10", "iunet", 0, {1: 51, 2: 61, 8: "every weight died"}),
        *evaluated("svhn", "omp", 0, gone, "not in the mirror"),
        *evaluated("svhn", "iunet", 0, gone, "not in the mirror"),
    ]
    figure = drawn(records)
    panels = panels2(figure)
    assert list(panels) == [("CIFAR10", "pis"), ("CIFAR10", "ilo")]
    omp = line(panels["CIFAR10", "ilo"], "omp")
    gap = pytest.approx(np.nan, nan_ok=True)
    assert omp.get_xydata().tolist() == [[1, gap], [2, 60], [8, 40]]  # its supernet is missing
    iunet = line(panels["CIFAR10", "pis"], "iunet")
    assert iunet.get_xydata().tolist() == [[1, 51], [2, 61], [8, gap]]
    assert legends(figure)[1] == ["sup (OMP)", "IUNET (κ = 0.25, ILO)"]
    some = "OMP at ratio 2 (some seeds), OMP at ratio 8 (some seeds)"
    assert says(figure, f"CIFAR10, OMP at ratio 1, {some}, SCL at ratio 1")
    assert says(figure, "CIFAR10, IUNET at ratio 8: every weight died")
    assert says(figure, "SVHN, all runs: not in the mirror")
    rows = points(runs_frame(records))
    assert [row["valid_accuracy"] for row in rows if row["missing"]] == [None] * (1 + 3 + 3 + 1 + 6)


def test_figure2_marks_disconnected_and_lent_decoders():
    records = evaluated("svhn", "omp", 0, {1: 80, 8: 70})
    records[1]["disconnected"] = True
    figure = drawn(records)
    hollow = line(panels2(figure)["SVHN", "ilo"], "omp disconnected")
    assert hollow.get_xydata().tolist() == [[8, 70]]
    assert hollow.get_markerfacecolor() == "white"
    assert says(figure, "Hollow marker") and not says(figure, "frozen encoder")
    assert says(drawn(evaluated("svhn", "scl", 0, {1: 80, 8: 70})), "SCL at ratio 1: a decoder")
    assert evaluate.DECODER == LENT_DECODER


def test_figure2_refuses_what_it_cannot_show():
    one, *_ = evaluated("svhn", "omp", 0, {1: 80})
    for supernet in ("kappa0.5-ilo", "kappa1-lasso0.00001"):
        with pytest.raises(UserError, match="cannot show the method 'mine'"):
            drawn([one | {"method": "mine", "supernet": supernet}])


def test_every_point_of_the_published_study_is_drawn(tmp_path):
    unpack(ROOT / "reports/cpu-study/reports.tar.xz", tmp_path)
    config = read_config() | {"results": str(tmp_path), "partial": True}
    bench = benchmark(config)
    rows = points(collect(bench, figure_request(bench, "figure2")).runs)
    found = {(row["method"], row["ratio"]) for row in rows if not row["missing"]}
    for method in ("omp", "iunet", "iunet_no_ilo", "iunet_no_pis", "scl"):
        assert {(method, 2), (method, 8)} <= found
    assert says(draw(rows), "Missing: CIFAR10, OMP at ratio 1, IUNET no ILO at ratio 1")

"""Figure 2: validation accuracy against compression."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import stdev

import numpy as np
import pytest
from figure_inputs import (
    METHODS,
    absent,
    evaluation,
    line,
    outputs,
    ratio_sweep,
    says,
    written,
)
from matplotlib.text import Text

from iunet.errors import UserError
from iunet.figures.figure2 import draw_figure2, figure2_rows, write_figure2
from iunet.figures.style import LOOKS, SMALL


@pytest.fixture
def sweep(tmp_path) -> list[dict]:
    return ratio_sweep(tmp_path)


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

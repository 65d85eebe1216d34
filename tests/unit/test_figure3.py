"""Figure 3: magnitudes of weights during training."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from figure_inputs import gone, outputs, says, three_histograms, written

from iunet.errors import UserError
from iunet.figures.figure3 import draw, quantile_of, shares
from iunet.figures.make import write_figure


@pytest.fixture
def histograms(tmp_path) -> list[dict]:
    return three_histograms(tmp_path)


def test_figure3_plots_shares(histograms, tmp_path):
    rows = shares(histograms)
    figure = draw(rows)
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
    write_figure(figure, rows, output)
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


def test_figure3_names_what_is_missing(histograms):
    figure = draw(shares([*histograms[:2], gone(histograms[2], "not finished")]))
    assert says(figure, "Missing: SVHN, κ = 1: not finished.")
    assert [axes.get_title() for axes in figure.axes] == ["κ = 0.25", ""]
    rows = shares([gone(histograms[2], "not finished")])
    assert [row["missing"] for row in rows] == ["not finished"]


def test_figure3_refuses_truncated_files_and_lasso(histograms):
    path = Path(histograms[0]["files"]["arrays"])
    whole = path.read_bytes()
    path.write_bytes(whole[:-8])
    with pytest.raises(UserError, match=f"{path.name} cannot be read as safetensors"):
        shares(histograms)
    path.write_bytes(whole)
    with pytest.raises(UserError, match="has no κ"):
        shares([histograms[0] | {"supernet": "kappa1-lasso0.1"}])

"""The overview: IUNET against every other method."""

from __future__ import annotations

import pandas as pd
import pytest
from figure_inputs import says, texts
from study_rows import frame, study

from iunet.figures.overview import differences, draw


def some_rows() -> list[dict]:
    rows = study(2.0) + [r | {"method": "dense", "stage": "dense"} for r in study(0)[:3]]
    return rows + [r | {"method": "iunet_no_ilo"} for r in study(-1.0) if r["method"] == "omp"]


def test_every_method_by_group_and_median():
    rows = differences(frame(some_rows()))
    found = pd.DataFrame(rows)
    assert found.groupby("method")["dataset"].count().to_dict() == {
        "dense": 1,
        "iunet_no_ilo": 6,
        "omp": 6,
    }
    (one,) = [r for r in rows if (r["method"], r["dataset"]) == ("omp", "c")]
    assert one["difference"] == pytest.approx(2) and one["low"] <= 2 <= one["high_beyond"]
    figure = draw(rows)
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels == ["Baselines", "Dense", "OMP", "Ablations", "IUNET no ILO"]
    assert "IUNET" not in texts(figure)


def test_iunet_with_another_setting_is_no_method_and_cut_off_networks_are_named():
    rows = some_rows()
    swept = [r | {"method": "iunet_kappa0.0625"} for r in rows if r["method"] == "omp"]
    assert differences(frame(rows + swept)) == differences(frame(rows))
    cut = [r | {"disconnected": True} if r["method"] == "omp" else r for r in rows]
    assert says(draw(differences(frame(cut))), "OMP (cut off on 6)")


def test_nothing_to_compare():
    rows = differences(frame([r for r in study(0) if r["method"] == "omp"]))
    assert rows == [{"missing": "no method other than IUNET has finished"}]

"""Tables 8 and 9 from small hand-made splits."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from iunet.artifacts import write_json
from iunet.errors import UserError
from iunet.paper import implied_rows, official_rows
from iunet.tables.data_statistics import (
    TABLE9,
    compare,
    paper_rows,
    same_percentage,
    same_size,
    table8,
    table9,
    tabular_statistics,
)
from iunet.tables.render.forms import write_table


def split(dataset, train, valid, test, **facts):
    """The JSON of a split with these rows per class in its parts."""
    classes = [
        {"name": str(i), "train": a, "valid": b, "test": c}
        for i, (a, b, c) in enumerate(zip(train, valid, test, strict=True))
    ]
    sizes = {"n_train": sum(train), "n_valid": sum(valid), "n_test": sum(test)}
    source = {"provenance": {"source": "openml", "task_id": 233092}}
    return (
        {"dataset": dataset, "classes": classes, "n_classes": len(classes)} | sizes | source | facts
    )


ARRHYTHMIA = split("arrhythmia", [147, 122, 1], [49, 42, 0], [49, 41, 1], n_features=279)


@pytest.fixture
def write(tmp_path):
    def run(table, splits, datasets, missing=()):
        paths = []
        for content in splits:
            paths.append(str(tmp_path / f"{content['dataset']}.json"))
            write_json(paths[-1], content)
        output = {
            key: str(tmp_path / f"table.{key}") for key in ("csv", "markdown", "html", "json")
        }
        ask = {"splits": paths, "datasets": datasets, "missing": dict(missing)}
        write_table(table(ask, "A title"), output)
        with Path(output["csv"]).open(newline="") as file:
            rows = {row["dataset"]: row for row in csv.DictReader(file)}
        return (
            rows,
            (tmp_path / "table.markdown").read_text(),
            (tmp_path / "table.html").read_text(),
        )

    return run


def test_table9(write):
    own = split("own", [3, 2], [1, 1], [1, 1], n_features=4, provenance={"source": "file"})
    rows, markdown, page = write(
        table9, [ARRHYTHMIA, own], ["arrhythmia", "kc1", "own"], {"kc1": "not here"}
    )
    row = rows["arrhythmia"]
    assert (row["n_train"], row["n_train_paper"], row["n_train_agrees"]) == (
        "270",
        "271",
        "off by one",
    )
    assert (row["n_features"], row["n_features_agrees"]) == ("280", "yes")
    assert (row["n_rows"], row["n_rows_paper"], row["n_rows_agrees"]) == ("452", "452-453", "yes")
    assert float(row["majority_pct"]) == pytest.approx(100 * 245 / 452, abs=1e-12)
    assert (row["majority_pct_agrees"], row["minority_pct_agrees"]) == ("yes", "yes")
    assert rows["kc1"]["missing"] == "not here" and rows["kc1"]["n_valid"] == ""
    assert rows["own"]["n_train_agrees"] == "not in the paper"
    assert "270 (271 ±1)" in markdown and "54.20 (54.20 ✓)" in markdown
    assert "Missing: kc1 (not here)." in markdown and "Not in the paper: own." in markdown
    assert "<td>270 (271 ±1)</td>" in page


def test_table9_shows_a_difference(write):
    wrong = ARRHYTHMIA | {"n_train": 265, "n_features": 270}
    rows, markdown, _ = write(table9, [wrong], ["arrhythmia"])
    assert rows["arrhythmia"]["n_train_agrees"] == rows["arrhythmia"]["n_features_agrees"] == "no"
    assert "271 (280 ✗)" in markdown
    assert "2 differ." in markdown


def test_table8_marks_subsets(write):
    subset = {"n_train": 10, "n_test": 10, "official_n_train": 50_000, "official_n_test": 10_000}
    cifar = split(
        "cifar10", [4] * 10, [1] * 10, [5] * 10, provenance={"source": "mirror", "subset": subset}
    )
    rows, markdown, _ = write(table8, [cifar], ["cifar10"])
    assert rows["cifar10"]["n_train_agrees"] == "no"
    assert rows["cifar10"]["n_classes_agrees"] == "yes"
    assert rows["cifar10"]["subset"] == "10+10 of 50000+10000 images"
    assert "cifar10 (subset)" in markdown


def test_split_sizes_of_table8_must_be_exact():
    from iunet.tables.data_statistics import TABLE8

    assert TABLE8[0].agreement(40_001, "40000") == "no"


def test_paper_sizes_fit_a_number_of_rows():
    """All 40 rows of the paper's table are 60/20/20, rounded down."""
    for name in paper_rows(9):
        low, high = official_rows(name)
        assert low <= high <= low + 1
    assert implied_rows(1265, 421, 421) == [2109]
    assert implied_rows(100, 421, 421) == []
    assert official_rows("wine") is None


@pytest.mark.parametrize(("ours", "agrees"), [(90, "yes"), (91, "off by one"), (92, "no")])
def test_sizes(ours, agrees):
    assert same_size(ours, "90") == agrees


@pytest.mark.parametrize(("ours", "agrees"), [(54.2035, "yes"), (54.205, "yes"), (54.21, "no")])
def test_percentages_agree_in_the_papers_decimals(ours, agrees):
    assert same_percentage(ours, "54.20") == agrees


def test_a_split_that_is_neither_there_nor_missing_is_an_error():
    with pytest.raises(UserError, match="no split of the data set 'vehicle'"):
        compare(TABLE9, {"arrhythmia": tabular_statistics(ARRHYTHMIA)}, {}, ["vehicle"], {})

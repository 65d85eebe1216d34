"""Tables 8 and 9 from small hand-made data sets."""

from __future__ import annotations

import csv

import pytest
from run_frames import results_of

from iunet.artifacts import write_json
from iunet.paper import implied_rows, official_rows, paper_table
from iunet.results.reports import read_dataset
from iunet.tables.data_statistics import TABLE8, TABLE9, table8, table9
from iunet.tables.notes import note_subsets


def dataset(folder, name, train, valid, test, **facts):
    """A data set with these rows per class in its parts, as the report of its split says."""
    classes = [
        {"name": str(i), "train": a, "valid": b, "test": c}
        for i, (a, b, c) in enumerate(zip(train, valid, test, strict=True))
    ]
    sizes = {"n_train": sum(train), "n_valid": sum(valid), "n_test": sum(test)}
    content = {"dataset": name, "classes": classes, "n_classes": len(classes), "n_features": 4}
    content |= sizes | {"provenance": {"source": "openml", "task_id": 233092}}
    path = folder / f"{name}.json"
    write_json(path, content | facts)
    return {"dataset": name, "missing": None} | read_dataset(str(path))


def arrhythmia(folder, **facts):
    parts = ([147, 122, 1], [49, 42, 0], [49, 41, 1])
    return dataset(folder, "arrhythmia", *parts, **({"n_features": 279} | facts))


def made(build, *datasets):
    """The table, and the lines of its CSV by data set."""
    results = results_of(datasets=datasets)
    table = build(results)
    note_subsets(table, results.subsets)
    lines = csv.DictReader(table.own_csv.splitlines())
    return table, {line["dataset"]: line for line in lines}


def test_table9(tmp_path):
    own = dataset(tmp_path, "own", [3, 2], [1, 1], [1, 1], provenance={"source": "file"})
    gone = {"dataset": "kc1", "missing": "not in the mirror"}
    table, lines = made(table9, arrhythmia(tmp_path), gone, own)
    line = lines["arrhythmia"]
    train = (line["n_train"], line["n_train_paper"], line["n_train_agrees"])
    assert train == ("270", "271", "off by one")
    assert (line["n_features"], line["n_features_agrees"]) == ("280", "yes")  # with the target
    assert (line["n_rows"], line["n_rows_paper"], line["n_rows_agrees"]) == (
        "452",
        "452-453",
        "yes",
    )
    assert float(line["majority_pct"]) == pytest.approx(100 * 245 / 452, abs=1e-12)
    assert (line["majority_pct_agrees"], line["minority_pct_agrees"]) == ("yes", "yes")
    assert lines["kc1"]["missing"] == "not in the mirror" and lines["kc1"]["n_valid"] == ""
    assert lines["own"]["n_train_agrees"] == "not in the paper"
    cell = table.cell("arrhythmia", "n_train")
    assert (cell.values["value"].mean, cell.paper.mean, cell.difference) == (270, 271, -1)
    assert cell.agrees == "no" and "differs by one" in cell.notes[0]
    assert table.cell("arrhythmia", "n_rows").notes == ["the paper implies 452-453"]
    assert table.cell("kc1", "n_test").missing == "not in the mirror"
    assert table.cell("kc1", "n_test").paper.mean == 421
    assert table.cell("own", "openml_task_id").missing == "not known of this source"
    assert "Missing: kc1 (not in the mirror)." in table.notes
    assert "Not in the paper: own." in table.notes


def test_table9_shows_a_difference(tmp_path):
    table, lines = made(table9, arrhythmia(tmp_path, n_train=265, n_features=270))
    assert lines["arrhythmia"]["n_train_agrees"] == "no"
    assert lines["arrhythmia"]["n_features_agrees"] == "no"
    assert any("2 differ." in note for note in table.notes)


def test_table8_marks_subsets(tmp_path):
    subset = {"n_train": 10, "n_test": 10, "official_n_train": 50_000, "official_n_test": 10_000}
    parts = ([4] * 10, [1] * 10, [5] * 10)
    source = {"source": "mirror", "subset": subset}
    table, lines = made(table8, dataset(tmp_path, "cifar10", *parts, provenance=source))
    assert lines["cifar10"]["n_train_agrees"] == "no"
    assert lines["cifar10"]["n_classes_agrees"] == "yes"
    assert lines["cifar10"]["subset"] == "10+10 of 50000+10000 images"
    assert table.rows[0].notes == ["subset: 10+10 of 50000+10000 images"]


def test_table8_says_which_images_were_grey(tmp_path):
    grey = {"source": "file", "grey_scale": True}
    table, lines = made(table8, dataset(tmp_path, "mine", [4], [1], [5], provenance=grey))
    assert lines["mine"]["source"] == "file (grey-scale, as three equal channels)"
    assert "Grey-scale images, given as three equal channels: mine." in table.notes


def test_split_sizes_of_table8_must_be_exact():
    assert TABLE8[0].agreement(40_001, "40000") == "no"


def test_paper_sizes_fit_a_number_of_rows():
    """All 40 rows of the paper's table are 60/20/20, rounded down."""
    for row in paper_table(9):
        low, high = official_rows(row["dataset"])
        assert low <= high <= low + 1
    assert implied_rows(1265, 421, 421) == [2109]
    assert implied_rows(100, 421, 421) == []
    assert official_rows("wine") is None


@pytest.mark.parametrize(("ours", "agrees"), [(90, "yes"), (91, "off by one"), (92, "no")])
def test_sizes(ours, agrees):
    assert TABLE9[1].agreement(ours, "90") == agrees


@pytest.mark.parametrize(("ours", "agrees"), [(54.2035, "yes"), (54.205, "yes"), (54.21, "no")])
def test_percentages_agree_in_the_papers_decimals(ours, agrees):
    assert TABLE9[5].agreement(ours, "54.20") == agrees

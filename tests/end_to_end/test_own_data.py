"""Data of a user's own, data that cannot be had, and the paper's own from the mirror."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from conftest import NOTHING, TEST_CONFIG, read_csv
from snakemake.exceptions import MissingInputException

TABLE9 = "results/test/tables/table9.csv"


# ---- the user's own data


def declare(workdir, name: str, frame: pd.DataFrame, target: str = "label") -> tuple[str, ...]:
    """Write a CSV and a registry for it; returns the options that add it to the test config."""
    frame.to_csv(workdir.path / f"{name}.csv", index=False)
    (workdir.path / "own.csv").write_text(
        f"name,kind,source,location,target\n{name},tabular,file,{name}.csv,{target}\n"
    )
    overlay = {
        "data": {"registry": ["config/datasets.csv", "own.csv"]},
        "tables": {"table9": {"datasets": ["wine", name]}},
    }
    return (*TEST_CONFIG, workdir.overlay("own.yaml", overlay))


def customers(**columns) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.integers(18, 90, 60), "city": rng.choice(["x", "y"], 60)})
    return frame.assign(label=rng.choice(["stays", "leaves"], 60)).assign(**columns)


def test_own_csv_becomes_a_row_of_table_9_and_is_watched(workdir):
    """What failed fails again until it is repaired: the old table is not the answer."""
    options = declare(workdir, "customers", customers())
    workdir.run(TABLE9, *options)
    row = read_csv(workdir.path / TABLE9)["customers"]
    assert (row["n_rows"], row["n_features"], row["source"]) == ("60", "3", "file")

    customers(label="stays").to_csv(workdir.path / "customers.csv", index=False)
    for _ in range(2):
        assert "is constant" in workdir.fail(TABLE9, *options)
    customers(age=1).to_csv(workdir.path / "customers.csv", index=False)
    workdir.run(TABLE9, *options)
    assert NOTHING in workdir.run(TABLE9, *options)


@pytest.mark.parametrize(
    ("frame", "target", "fragment"),
    [
        (customers(label="stays"), "label", "the target column 'label' is constant"),
        (customers(), "lable", "no target column 'lable'. Did you mean 'label'?"),
    ],
    ids=["constant", "missing"],
)
def test_a_bad_data_set_is_explained_and_does_not_stop_the_others(workdir, frame, target, fragment):
    options = declare(workdir, "customers", frame, target)
    output = workdir.fail(TABLE9, *options)
    assert fragment in output
    assert "Traceback" not in output
    root = workdir.path / "results" / "test"
    assert fragment in (root / "logs" / "download" / "customers.log").read_text()
    assert list((root / "data").glob("customers/*")) == []
    assert (root / "splits" / "wine" / "split.json").is_file()


def test_own_file_that_is_absent(workdir):
    options = declare(workdir, "customers", customers())
    (workdir.path / "customers.csv").unlink()
    with pytest.raises(MissingInputException, match=r"customers\.csv"):
        workdir.plan_with(options[1:], TABLE9)


def test_network_that_is_down(workdir):
    overlay = {
        "data": {"openml_server": "http://127.0.0.1:9/api", "attempts": 2, "pause_s": 0},
        "datasets": {"tabular": ["vehicle"]},
    }
    workdir.overlay("down.yaml", overlay)
    target = "results/test/data/vehicle/data.json"
    output = workdir.fail(target, *TEST_CONFIG, "down.yaml")
    assert "'vehicle' (OpenML task 233094 at http://127.0.0.1:9/api)" in output
    assert "could not be fetched in 2 attempts" in output
    assert list((workdir.path / "results" / "test" / "data").glob("vehicle/*")) == []


def test_set_that_the_mirror_lacks_is_shown_as_missing(workdir):
    """Asked for alone it is an error; in a table it is a row with the reason."""
    mirror = workdir.path / "mirror" / "tabular"
    mirror.mkdir(parents=True)
    (mirror / "index.csv").write_text("name,file,sha256\nother,other.parquet,0\n")
    overlay = {"data": {"mirror": "mirror"}, "tables": {"table9": {"datasets": ["wine", "kc1"]}}}
    workdir.overlay("mirror.yaml", overlay)
    options = (*TEST_CONFIG, "mirror.yaml")
    workdir.run(TABLE9, *options)
    row = read_csv(workdir.path / TABLE9)["kc1"]
    assert (row["n_train"], row["n_train_paper"]) == ("", "1265")
    assert (row["n_train_agrees"], row["missing"]) == ("missing", "not in the mirror")
    output = workdir.fail("results/test/data/kc1/data.json", *options)
    assert "'kc1' is not in the mirror 'mirror'" in output


# ---- real data


@pytest.mark.mirror
def test_the_mirror_gives_the_papers_statistics(workdir, mirror):
    """21 tables and 3 image sets: downloaded, split, and equal to the paper but for rounding."""
    workdir.overlay("mirror.yaml", {"data": {"mirror": str(mirror)}})
    tables = ("results/tables/table8.csv", "results/tables/table9.csv")
    workdir.run(*tables, "--configfile", "mirror.yaml")
    rows = read_csv(workdir.path / "results" / "tables" / "table9.csv")
    assert len(rows) == 40
    present = [row for row in rows.values() if not row["missing"]]
    assert len(present) == 21
    exact = ("n_rows", "n_features", "majority_pct", "minority_pct", "openml_task_id")
    for row in present:
        assert {row[f"{key}_agrees"] for key in exact} == {"yes"}, row
        for part in ("train", "valid", "test"):
            difference = abs(int(row[f"n_{part}"]) - int(row[f"n_{part}_paper"]))
            marked = {0: "yes", 1: "off by one"}[difference]
            assert row[f"n_{part}_agrees"] == marked
    images = read_csv(workdir.path / "results" / "tables" / "table8.csv")
    assert set(images) == {"cifar10", "cifar100", "svhn"}
    assert all(row["subset"].startswith("10000+3000 of") for row in images.values())
    for job in ("download", "split"):
        for name in ("fashion-mnist", "creditcard-fraud"):
            path = workdir.path / "results" / "benchmarks" / job / f"{name}.tsv"
            header, values = (line.split("\t") for line in path.read_text().splitlines())
            used = dict(zip(header, values, strict=True))
            assert float(used["s"]) < 60 and float(used["max_rss"]) < 6000

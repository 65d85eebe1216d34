"""Data of a user's own, data that cannot be had, and the paper's own from the mirror."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from conftest import TEST_CONFIG, read_csv
from run_frames import results_of
from snakemake.exceptions import WorkflowError

from iunet.data.download import download
from iunet.data.registry import read_registry
from iunet.data.sources import source_settings
from iunet.data.split import split_table
from iunet.results.reports import read_dataset
from iunet.runs.settings import split_settings
from iunet.runs.validate import unavailable
from iunet.tables import table9
from iunet.tables.context import Context

ROOT = Path(__file__).resolve().parents[2]
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
    output = workdir.fail(TABLE9, *options)
    assert "the target column 'label' is constant" in output and "Traceback" not in output
    customers(age=1).to_csv(workdir.path / "customers.csv", index=False)
    workdir.run(TABLE9, *options)


def test_a_bad_data_set_is_explained_and_does_not_stop_the_others(workdir):
    options = declare(workdir, "customers", customers(), target="lable")
    output = workdir.fail(TABLE9, *options)
    fragment = "no target column 'lable'. Did you mean 'label'?"
    assert fragment in output and "Traceback" not in output
    root = workdir.path / "results" / "test"
    assert fragment in (root / "logs" / "download" / "customers.log").read_text()
    assert list((root / "data").glob("customers/*")) == []
    assert (root / "splits" / "wine" / "split.json").is_file()


def test_own_file_that_is_absent(workdir):
    options = declare(workdir, "customers", customers())
    (workdir.path / "customers.csv").unlink()
    with pytest.raises(WorkflowError, match=r"'customers' \(own.csv, line 2\) is the file 'cust"):
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


def agrees_with_the_paper(row: dict[str, str]) -> None:
    """All but for the rounding of sizes."""
    exact = ("n_rows", "n_features", "majority_pct", "minority_pct", "openml_task_id")
    assert {row[f"{key}_agrees"] for key in exact} == {"yes"}, row
    for part in ("train", "valid", "test"):
        difference = abs(int(row[f"n_{part}"]) - int(row[f"n_{part}_paper"]))
        assert row[f"n_{part}_agrees"] == {0: "yes", 1: "off by one"}[difference]


@pytest.mark.mirror
def test_data_of_the_mirror_through_the_workflow(workdir, mirror):
    """A table, a large one, one that is not there, and images."""
    tables = {"table8": {"datasets": ["svhn"]}}
    tables["table9"] = {"datasets": ["vehicle", "fashion-mnist", "dionis"]}
    overlay = {"data": {"mirror": str(mirror)}, "tables": tables}
    options = ("--configfile", workdir.overlay("mirror.yaml", overlay))
    folder = workdir.path / "results"
    workdir.run("results/tables/table8.csv", "results/tables/table9.csv", *options)
    rows = read_csv(folder / "tables" / "table9.csv")
    assert rows.pop("dionis")["missing"] == "not in the mirror" and len(rows) == 2
    for row in rows.values():
        agrees_with_the_paper(row)
    (images,) = read_csv(folder / "tables" / "table8.csv").values()
    assert images["subset"].startswith("10000+3000 of")
    for job in ("download", "split"):
        path = folder / "benchmarks" / job / "fashion-mnist.tsv"
        header, values = (line.split("\t") for line in path.read_text().splitlines())
        assert float(dict(zip(header, values, strict=True))["max_rss"]) < 6000


@pytest.mark.mirror
def test_the_mirror_gives_the_papers_statistics(tmp_path, mirror):
    """All of its tables, by the functions behind the rules: equal to the paper but for rounding."""
    config = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())
    registry = read_registry([ROOT / "config" / "datasets.csv"])
    sources = source_settings({**config["data"], "mirror": str(mirror)})
    absent = unavailable(registry, str(mirror))
    names = config["datasets"]["tabular"]
    sets = []
    for name in names:
        if name in absent:
            sets.append({"dataset": name, "missing": absent[name]})
            continue
        data, description = str(tmp_path / f"{name}.parquet"), str(tmp_path / f"{name}.data.json")
        download(registry[name], sources, data, description)
        parts = ("train", "valid", "test", "indices", "preprocessing", "split")
        output = {part: str(tmp_path / f"{name}.{part}") for part in parts}
        split_table(data, description, output, **split_settings(config, registry[name]))
        sets.append({"dataset": name} | read_dataset(output["split"], name))
    table = table9.build(results_of(datasets=sets), Context())
    (tmp_path / "table9.csv").write_text(table.own_csv)
    rows = read_csv(tmp_path / "table9.csv").values()
    present = [row for row in rows if not row["missing"]]
    assert (len(names), len(present)) == (40, 21)
    for row in present:
        agrees_with_the_paper(row)

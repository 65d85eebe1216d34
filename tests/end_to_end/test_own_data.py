"""Data of a user's own, data that cannot be had, and the paper's own from the mirror."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import yaml
from conftest import ROOT, TEST_CONFIG, read_csv
from run_frames import results_of
from snakemake.exceptions import WorkflowError

from iunet.data.download import download
from iunet.data.registry import read_registry
from iunet.data.sources import source_settings
from iunet.data.split import split_table
from iunet.errors import UserError
from iunet.results.reports import read_dataset
from iunet.runs.settings import split_settings
from iunet.runs.validate import unavailable
from iunet.tables.data_statistics import table9

TABLE9 = "results/test/tables/table9.csv"


# ---- the user's own data


def declare(workdir, frame: pd.DataFrame, **keys) -> tuple[str, ...]:
    """Write customers.csv and a registry for it; the options that add it to the test config."""
    frame.to_csv(workdir.path / "customers.csv")  # with pandas' index, as users do
    (workdir.path / "own.csv").write_text(
        "name,kind,source,location,target\ncustomers,tabular,file,customers.csv,label\n"
    )
    overlay = {
        "data": {"registry": ["config/datasets.csv", "own.csv"], **keys},
        "tables": {"table9": {"datasets": ["wine", "customers", "kc1"]}},
    }
    return (*TEST_CONFIG, workdir.overlay("own.yaml", overlay))


def customers(**columns) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.integers(18, 90, 60), "city": rng.choice(["x", "y"], 60)})
    return frame.assign(label=rng.choice(["stays", "leaves"], 60)).assign(**columns)


def test_own_csv_becomes_a_row_of_table_9_and_is_watched(workdir):
    """A bad file is explained and does not stop the others. What failed fails again until it is
    repaired: no table is made without it. What the mirror lacks is a row with the reason."""
    mirror = workdir.path / "mirror" / "tabular"
    mirror.mkdir(parents=True)
    (mirror / "index.csv").write_text("name,file,sha256\nother,other.parquet,0\n")
    options = declare(workdir, customers(label="stays"), mirror="mirror")
    output = workdir.fail(TABLE9, *options)
    constant = "the target column 'label' is constant"
    assert constant in output and "own.csv, line 2" in output and "Traceback" not in output
    root = workdir.path / "results" / "test"
    assert constant in (root / "logs" / "download" / "customers.log").read_text()
    assert list((root / "data").glob("customers/*")) == []
    assert (root / "splits" / "wine" / "split.json").is_file()

    customers().to_csv(workdir.path / "customers.csv")
    output = workdir.run(TABLE9, *options)
    assert "The column 'Unnamed: 0' numbers the rows" in output and "left out" in output
    rows = read_csv(workdir.path / TABLE9)
    row = rows["customers"]
    assert (row["n_rows"], row["n_features"], row["source"]) == ("60", "3", "file")
    row = rows["kc1"]
    assert (row["n_train"], row["n_train_paper"]) == ("", "1265")
    assert (row["n_train_agrees"], row["missing"]) == ("missing", "not in the mirror")
    with pytest.raises(WorkflowError, match="'kc1' is not in the mirror 'mirror'"):
        workdir.plan_with(options[1:], "results/test/data/kc1/data.json")

    customers(age=1).to_csv(workdir.path / "customers.csv")
    assert TABLE9 in workdir.plan_with(options[1:], TABLE9).outputs


def test_own_file_that_is_absent(workdir):
    options = declare(workdir, customers())
    (workdir.path / "customers.csv").unlink()
    with pytest.raises(WorkflowError, match=r"'customers' \(own.csv, line 2\): the file"):
        workdir.plan_with(options[1:], TABLE9)


def test_network_that_is_down(tmp_path):
    dataset = read_registry([ROOT / "config" / "datasets.csv"])["vehicle"]
    config = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())["data"]
    down = {"openml_server": "http://127.0.0.1:9/api", "attempts": 2, "pause_s": 0}
    with pytest.raises(UserError) as caught:
        output = tmp_path / "data.parquet", tmp_path / "data.json"
        download(dataset, source_settings(config | down), *output)
    assert "OpenML task 233094 at http://127.0.0.1:9/api could not be" in str(caught.value)
    assert "could not be downloaded in 2 attempts" in str(caught.value)
    assert list(tmp_path.iterdir()) == []


# ---- real data


@pytest.mark.mirror
def test_the_mirror_gives_the_papers_statistics(workdir, tmp_path, mirror):
    """Equal to the paper but for rounding: the largest table through the workflow, and in little
    memory; the others by the functions behind the rules."""
    largest = "results/splits/fashion-mnist/split.json"
    overlay = workdir.overlay("mirror.yaml", {"data": {"mirror": str(mirror)}})
    workdir.run(largest, "--configfile", overlay)
    for job in ("download", "split"):
        path = workdir.path / "results" / "benchmarks" / job / "fashion-mnist.tsv"
        header, values = (line.split("\t") for line in path.read_text().splitlines())
        assert float(dict(zip(header, values, strict=True))["max_rss"]) < 6000

    config = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())
    registry = read_registry([ROOT / "config" / "datasets.csv"])
    sources = source_settings({**config["data"], "mirror": str(mirror)})
    absent = unavailable(registry, str(mirror))
    sets = [{"dataset": "fashion-mnist"} | read_dataset(str(workdir.path / largest))]
    for name in config["datasets"]["tabular"]:
        if name in absent:
            sets.append({"dataset": name, "missing": absent[name]})
        elif name != "fashion-mnist":
            data, description = str(tmp_path / f"{name}.parquet"), str(tmp_path / f"{name}.json")
            download(registry[name], sources, data, description)
            parts = ("train", "valid", "test", "indices", "preprocessing", "split")
            output = {part: str(tmp_path / f"{name}.{part}") for part in parts}
            split_table(data, description, output, **split_settings(config, registry[name]))
            sets.append({"dataset": name} | read_dataset(output["split"]))
    (tmp_path / "table9.csv").write_text(table9(results_of(datasets=sets)).own_csv)
    rows = read_csv(tmp_path / "table9.csv").values()
    present = [row for row in rows if not row["missing"]]
    assert (len(rows), len(present)) == (40, 21)
    for row in present:
        agrees_with_the_paper(row)


def agrees_with_the_paper(row: dict[str, str]) -> None:
    """All but for the rounding of sizes."""
    exact = ("n_rows", "n_features", "majority_pct", "minority_pct", "openml_task_id")
    assert {row[f"{key}_agrees"] for key in exact} == {"yes"}, row
    for part in ("train", "valid", "test"):
        difference = abs(int(row[f"n_{part}"]) - int(row[f"n_{part}_paper"]))
        assert row[f"n_{part}_agrees"] == {0: "yes", 1: "off by one"}[difference]

"""The workflow as a user runs it: planning, data of their own, and its errors."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import NOTHING, TEST_CONFIG, planned_jobs, read_csv

ROOT = Path(__file__).resolve().parents[2]


# ---- planning


def test_the_users_command_plans_without_data_and_in_seconds(workdir):
    start = time.monotonic()
    output = workdir.run("--resources", "gpu=1", "-n", "results/tables/table9.csv")
    assert time.monotonic() - start < 30
    jobs = {"download_table": 40, "split_table": 40, "table9": 1, "total": 81}
    assert planned_jobs(output) == jobs


def test_a_table_asks_for_what_it_needs_and_nothing_else(workdir):
    """Table 2 is made from table 7: three seeds of seven methods on 40 tables, no images."""
    output = workdir.run("--resources", "gpu=1", "-n", "results/tables/table2.csv")
    jobs = planned_jobs(output)
    assert jobs["table2"] == jobs["table"] == 1
    assert (jobs["tune"], jobs["refit"], jobs["evaluate_dense"]) == (120, 360, 120)
    assert jobs["supernet"] == 40 * 3 * (1 + 1 + 5)
    assert not {"split_images", "figure2", "page", "table9"} & set(jobs)


def test_everything_and_download_all_plan(workdir):
    start = time.monotonic()
    jobs = planned_jobs(workdir.run("-n"))
    assert jobs["split_images"] == 3 and jobs["page"] == 1 and jobs["table"] == 12
    assert time.monotonic() - start < 180  # 30 s alone; tests run side by side
    jobs = {"download_table": 40, "download_images": 3, "download_all": 1, "total": 44}
    assert planned_jobs(workdir.run("-n", "download_all")) == jobs


def test_the_demo_plans_few_jobs(workdir):
    jobs = planned_jobs(workdir.run("-n", "--configfile", "config/demo.yaml"))
    assert 0 < jobs["total"] <= 310
    assert {"table", "table2", "table8", "table9", "figure2", "figure3", "figure4", "page"} <= set(
        jobs
    )


def test_demo_and_paper_have_separate_roots():
    from yaml import safe_load

    roots = [safe_load(path.read_text())["results"] for path in (ROOT / "config").glob("*.yaml")]
    assert len(roots) == len(set(roots)) == 3


def test_planning_imports_nothing_heavy():
    """Every start and every job parses the Snakefile, and with it these modules."""
    code = (
        "import sys, iunet.runs.config, iunet.data.sources, iunet.runs.versions as s\n"
        "s.science_version('iunet.data.split')\n"
        "print(sorted({'torch', 'pandas', 'numpy', 'sklearn', 'pyarrow'} & set(sys.modules)))"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert output.stdout == "[]\n", output.stderr


# ---- runs


def test_a_choice_is_among_the_methods_own_ratios(workdir):
    """Another method's ratios of the same supernet are evaluated, but are no candidates."""
    overlay = {
        "methods": {"more": {"kappa": 0.25, "objective": "ilo", "ratios": [2, 4]}},
        "experiments": {
            "more": {"datasets": ["wine"], "networks": ["mlp_tab"], "methods": ["more"]}
        },
    }
    (workdir.path / "more.yaml").write_text(json.dumps(overlay))
    folder = "results/test/runs/wine/mlp_tab"
    counts = {f"{folder}/selection-iunet.json": 1, f"{folder}/selection-more.json": 2}
    counts[f"{folder}/kappa0.25-ilo/seed0/evaluation.json"] = 3
    for target, n in counts.items():
        jobs = planned_jobs(workdir.run(target, "-n", *TEST_CONFIG, "more.yaml"))
        assert jobs["finetune"] == n


def test_a_supernet_that_is_not_pruned_has_no_subnetworks(workdir):
    overlay = {
        "methods": {"bare": {"kappa": 0.5, "objective": "sup", "prune": False}},
        "experiments": {
            "bare": {"datasets": ["wine"], "networks": ["mlp_tab"], "methods": ["bare"]}
        },
    }
    (workdir.path / "bare.yaml").write_text(json.dumps(overlay))
    target = "results/test/runs/wine/mlp_tab/kappa0.5-sup/seed0/evaluation.json"
    jobs = planned_jobs(workdir.run(target, "-n", *TEST_CONFIG, "bare.yaml"))
    assert "finetune" not in jobs and jobs["evaluate"] == 1


@pytest.mark.parametrize(
    ("changes", "fragment"),
    [
        ({"supernet": {"epochs": 2.5}}, "'train.supernet.epochs' is 2.5"),
        ({"supernet": {"momentum": 0}}, "'train.supernet.optimiser.momentum' is 0"),
        ({"finetune": {"cycles": 0}}, "'train.finetune_tabular.cycles' is 0"),
        ({"network": {"depth": 0}}, "'networks.mlp_tab.depth' is 0"),
    ],
)
def test_impossible_values_in_a_row_are_named(workdir, changes, fragment):
    overlay = {
        "methods": {"odd": {"kappa": 1, "objective": "sup", **changes}},
        "experiments": {"odd": {"datasets": ["wine"], "networks": ["mlp_tab"], "methods": ["odd"]}},
    }
    (workdir.path / "odd.yaml").write_text(json.dumps(overlay))
    output = workdir.fail("-n", *TEST_CONFIG, "odd.yaml")
    assert "With the changes of 'methods.odd': " in output and fragment in output


def test_only_evaluation_reads_test_data():
    for path in (ROOT / "workflow" / "rules").glob("*.smk"):
        for rule in path.read_text().split("\nrule ")[1:]:
            name = rule.split(":")[0]
            reads = "/test.safetensors" in rule.partition("output:")[0]
            assert reads == name.startswith("evaluate"), name


@pytest.mark.parametrize(("device", "gpus"), [("cpu", 0), ("cuda", 1)])
def test_training_jobs_ask_for_a_gpu_only_where_there_is_one(workdir, device, gpus, monkeypatch):
    (workdir.path / "gpus" / "0").mkdir(parents=True)
    monkeypatch.setenv("IUNET_GPU_LIST", str(workdir.path / "gpus"))
    (workdir.path / "device.yaml").write_text(f"device: {device}")
    point = {"dataset": "wine", "network": "mlp_tab", "kappa": "1", "objective": "sup"}
    point |= {"init": "", "variant": "", "seed": "0"}
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT / 'workflow' / 'scripts')!r})\n"
        "from pathlib import Path; from _job import mock_snakemake\n"
        f"job = mock_snakemake('supernet', {point}, [Path('device.yaml')])\n"
        "print(job.resources.gpu, job.threads)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=workdir.path, capture_output=True, text=True
    )
    assert result.stdout == f"{gpus} 1\n", result.stderr


def test_too_few_cores_are_an_error(workdir):
    target = "results/test/runs/wine/mlp_tab/kappa1-sup/seed0/supernet.json"
    output = workdir.fail(target, *TEST_CONFIG, "--config", 'train={"threads": 3}')
    assert "'train.threads' is 3, but this job was given 2" in output


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
    (workdir.path / "own.yaml").write_text(json.dumps(overlay))
    return (*TEST_CONFIG, "own.yaml")


def customers(**columns) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.integers(18, 90, 60), "city": rng.choice(["x", "y"], 60)})
    return frame.assign(label=rng.choice(["stays", "leaves"], 60)).assign(**columns)


def test_own_csv_becomes_a_row_of_table_9(workdir):
    options = declare(workdir, "customers", customers())
    workdir.run("results/test/tables/table9.csv", *options)
    row = read_csv(workdir.path / "results" / "test" / "tables" / "table9.csv")["customers"]
    assert (row["n_rows"], row["n_features"], row["source"]) == ("60", "3", "file")
    time.sleep(1.1)  # file systems with whole seconds
    customers(age=1).to_csv(workdir.path / "customers.csv", index=False)
    assert "download_table" in workdir.run("results/test/tables/table9.csv", "-n", *options)


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
    output = workdir.fail("results/test/tables/table9.csv", *options)
    assert fragment in output
    assert "Traceback" not in output
    root = workdir.path / "results" / "test"
    assert fragment in (root / "logs" / "download" / "customers.log").read_text()
    assert list((root / "data").glob("customers/*")) == []
    assert (root / "splits" / "wine" / "split.json").is_file()


def test_a_run_that_failed_fails_again_until_it_is_repaired(workdir):
    """The second start must not take the old table for the answer."""
    table = "results/test/tables/table9.csv"
    options = declare(workdir, "customers", customers())
    workdir.run(table, *options)
    for label in ("stays", "leaves"):
        customers(label=label).to_csv(workdir.path / "customers.csv", index=False)
        assert "is constant" in workdir.fail(table, *options)
        assert "is constant" in workdir.fail(table, *options)
    customers(age=1).to_csv(workdir.path / "customers.csv", index=False)
    workdir.run(table, *options)
    assert NOTHING in workdir.run(table, *options)


def test_own_file_that_is_absent(workdir):
    options = declare(workdir, "customers", customers())
    (workdir.path / "customers.csv").unlink()
    output = workdir.fail("results/test/tables/table9.csv", *options)
    assert "customers.csv" in output and "Missing input files" in output


def test_typo_in_the_config(workdir):
    output = workdir.fail("-n", "--config", "sedes=[0]")
    assert "unknown key 'sedes'. Did you mean 'seeds'?" in output
    assert "Traceback" not in output


def test_network_that_is_down(workdir):
    overlay = {
        "data": {"openml_server": "http://127.0.0.1:9/api", "attempts": 2, "pause_s": 0},
        "datasets": {"tabular": ["vehicle"]},
    }
    (workdir.path / "down.yaml").write_text(json.dumps(overlay))
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
    (workdir.path / "mirror.yaml").write_text(json.dumps(overlay))
    options = (*TEST_CONFIG, "mirror.yaml")
    workdir.run("results/test/tables/table9.csv", *options)
    row = read_csv(workdir.path / "results" / "test" / "tables" / "table9.csv")["kc1"]
    assert (row["n_train"], row["n_train_paper"]) == ("", "1265")
    assert (row["n_train_agrees"], row["missing"]) == ("missing", "not in the mirror")
    output = workdir.fail("results/test/data/kc1/data.json", *options)
    assert "'kc1' is not in the mirror 'mirror'" in output


# ---- real data


@pytest.mark.mirror
def test_the_mirror_gives_the_papers_statistics(workdir, mirror):
    """21 tables and 3 image sets: downloaded, split, and equal to the paper but for rounding."""
    (workdir.path / "mirror.yaml").write_text(json.dumps({"data": {"mirror": str(mirror)}}))
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

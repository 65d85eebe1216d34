"""The workflow as a user runs it: planning, the whole of it on embedded data, and its errors."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).resolve().parents[1]
TEST_CONFIG = ("--configfile", "config/test.yaml")
NOTHING = "Nothing to be done"


def read_csv(path: Path) -> dict[str, dict[str, str]]:
    with path.open(newline="") as file:
        return {row["dataset"]: row for row in csv.DictReader(file)}


# ---- planning


def planned_jobs(output: str) -> dict[str, int]:
    """The job counts that a dry run prints."""
    lines = (line.split() for line in output.splitlines())
    counts = (line for line in lines if len(line) == 2 and line[1].isdigit())
    return {name: int(count) for name, count in counts if name.isidentifier()}


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
    assert time.monotonic() - start < 90  # 20 s alone; tests run side by side
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
        "import sys, iunet.config, iunet.data.sources, iunet.science_version as s\n"
        "s.science_version('iunet.data.split')\n"
        "print(sorted({'torch', 'pandas', 'numpy', 'sklearn', 'pyarrow'} & set(sys.modules)))"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert output.stdout == "[]\n", output.stderr


# ---- a whole run


# Tests of one group run in one worker, so that the run they share is made once.
shares_a_run = pytest.mark.xdist_group("finished")


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """A finished run of config/test.yaml, shared by the tests that only look at it."""
    from conftest import Workdir

    workdir = Workdir(tmp_path_factory.mktemp("finished") / "work")
    workdir.run(*TEST_CONFIG)
    return workdir


@shares_a_run
def test_tables_of_the_run(finished):
    tables = finished.path / "results" / "test" / "tables"
    row = read_csv(tables / "table9.csv")["wine"]
    assert (row["n_train"], row["n_valid"], row["n_test"]) == ("106", "36", "36")
    assert row["n_train_agrees"] == "not in the paper"
    assert read_csv(tables / "table8.csv")["photo_digits_low"]["n_classes"] == "5"
    assert "| wine " in (tables / "table9.md").read_text()
    assert "<td>wine</td>" in (tables / "table9.html").read_text()


@shares_a_run
def test_every_job_leaves_a_log_and_a_benchmark(finished):
    root = finished.path / "results" / "test"
    for job in ("download/wine", "split/wine", "split/photo_digits_low", "tables/table9"):
        assert (root / "logs" / f"{job}.log").is_file()
        assert (root / "benchmarks" / f"{job}.tsv").is_file()
    assert "sha256" in (root / "logs" / "download" / "wine.log").read_text()


@shares_a_run
def test_a_finished_run_is_not_repeated(finished):
    assert NOTHING in finished.run(*TEST_CONFIG)


@shares_a_run
def test_the_same_data_downloaded_again_repeat_nothing(finished):
    finished.run(*TEST_CONFIG, "--forcerun", "download_table", "--until", "download_table")
    assert NOTHING in finished.run(*TEST_CONFIG)


@shares_a_run
def test_a_changed_parameter_repeats_what_uses_it(finished):
    jobs = planned_jobs(
        finished.run("-n", *TEST_CONFIG, "--config", 'split={"max_categories": 99}')
    )
    assert jobs["split_table"] == jobs["table9"] == 1
    assert not {"split_images", "download_table", "table8"} & set(jobs)


@shares_a_run
def test_snakemakes_own_report(finished, tmp_path):
    finished.run(*TEST_CONFIG, "--report", str(tmp_path / "report.html"))
    page = (tmp_path / "report.html").read_text()
    assert "table9.html" in page and "figure2.png" in page
    assert "the paper's beside them" in page


@shares_a_run
def test_a_script_runs_by_hand(finished):
    """As under a debugger: the same inputs, the same bytes."""
    split = finished.path / "results" / "test" / "splits" / "wine"
    before = {path.name: path.read_bytes() for path in split.iterdir()}
    for path in split.iterdir():
        path.unlink()
    script = ROOT / "workflow" / "scripts" / "split_table.py"
    result = subprocess.run(
        [sys.executable, script, "dataset=wine", *TEST_CONFIG],
        cwd=finished.path,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    assert "wine: train 106, valid 36, test 36" in result.stderr
    assert before == {path.name: path.read_bytes() for path in split.iterdir()}


@shares_a_run
def test_all_tables_figures_and_the_page(finished):
    root = finished.path / "results" / "test"
    for number in range(1, 10):
        for ending in ("csv", "md", "html", "tex", "json"):
            assert (root / "tables" / f"table{number}.{ending}").stat().st_size > 0
    for number in (2, 3, 4):
        for ending in ("pdf", "png", "csv"):
            assert (root / "figures" / f"figure{number}.{ending}").stat().st_size > 0
    page = (root / "report" / "index.html").read_text()
    for part in ("table7", "figure4", "tuning-wine", "metric_problem"):
        assert f'id="{part}"' in page
    with (root / "tables" / "table7.csv").open() as file:
        cells = {(row["row"], row["column"], row["metric"]): row for row in csv.DictReader(file)}
    shown = float(cells["wine", "iunet", "balanced_accuracy"]["mean"])
    (_, pruned) = evaluation(finished, "wine/mlp_tab/kappa0.25-ilo/seed0")["results"]
    assert shown == pruned["metrics"]["test_balanced_accuracy"]


@shares_a_run
def test_baselines_of_the_run(finished):
    """β-LASSO's second l1 kills every weight: reported, and not chosen."""
    runs = finished.path / "results" / "test" / "runs" / "wine"
    selection = json.loads((runs / "mlp_tab" / "selection-beta_lasso.json").read_text())
    assert selection["chosen"]["supernet"] == "kappa1-lasso0.00001"
    assert "every weight died" in selection["candidates"][1]["failed"]
    for learner in ("xgb", "tabnet", "mlp_c"):
        study = json.loads((runs / learner / "tuning" / "study.json").read_text())
        assert study["trials"] == {"xgb": 3, "tabnet": 2, "mlp_c": 2}[learner]
        (result,) = evaluation(finished, f"wine/{learner}/seed0")["results"]
        assert 0 <= result["metrics"]["test_balanced_accuracy"] <= 100


@shares_a_run
def test_a_larger_budget_continues_the_study(finished):
    """Of a copy, so that the shared run stays as it is."""
    target = "results/test/runs/wine/xgb/tuning/study.json"
    journal = finished.path / "results/test/runs/wine/xgb/tuning/study.journal"
    before = journal.read_text().splitlines()
    change = 'tuning={"xgb": {"trials": 5}}'
    jobs = planned_jobs(finished.run("-n", target, *TEST_CONFIG, "--config", change))
    assert jobs == {"tune": 1, "study": 1, "total": 2}
    finished.run(target, *TEST_CONFIG, "--config", change)
    assert journal.read_text().splitlines()[: len(before)] == before
    assert json.loads((finished.path / target).read_text())["trials"] == 5
    finished.run(*TEST_CONFIG)


@shares_a_run
def test_partial_results(finished):
    """What is not finished is marked; nothing is trained."""
    table = "results/test/tables/table7.csv"
    evaluated = finished.path / "results/test/runs/wine/xgb/seed0/evaluation.json"
    kept = evaluated.read_bytes()
    evaluated.unlink()
    partial = ("--config", "partial=true")
    jobs = planned_jobs(finished.run("-n", table, *TEST_CONFIG, *partial))
    assert jobs == {"table": 1, "total": 1}
    finished.run(table, *TEST_CONFIG, *partial)
    with (finished.path / table).open() as file:
        missing = {row["column"]: row["missing"] for row in csv.DictReader(file)}
    assert missing["xgb"] == "not finished" and missing["iunet"] == ""
    evaluated.write_bytes(kept)
    finished.run(*TEST_CONFIG)


# ---- the method


def evaluation(finished, run: str) -> dict:
    path = finished.path / "results" / "test" / "runs" / run / "evaluation.json"
    return json.loads(path.read_text())


@shares_a_run
def test_runs_are_evaluated(finished):
    pruned = evaluation(finished, "photo_digits_low/mlp_vis/kappa0.25-ilo/seed0")
    assert [result["ratio"] for result in pruned["results"]] == [1, 2, 8]
    for result in pruned["results"]:
        assert {"test_accuracy", "test_balanced_accuracy"} <= set(result["metrics"])
        assert set(result["consistency"]) == {"resize", "horiz", "color", "graysc"}
    (dense,) = evaluation(finished, "wine/mlp_tab/dense/seed0")["results"]
    assert dense["sizes"]["members"] == 2


@shares_a_run
def test_a_ratio_is_selected(finished):
    folder = finished.path / "results/test/runs/photo_digits_low/mlp_vis"
    selection = json.loads((folder / "selection-omp.json").read_text())
    assert selection["metric"] == "valid_accuracy"
    best = max(selection["candidates"], key=lambda entry: (entry["mean"], entry["ratio"]))
    assert selection["chosen"] == {key: best[key] for key in ("supernet", "cut", "ratio")}
    assert selection["chosen"]["cut"] in ("ratio2", "ratio8")


@shares_a_run
def test_a_method_is_added_by_a_row_and_shares_what_exists(finished):
    """No code: a new λ needs its supernet and what follows, and nothing that is there already."""
    overlay = {
        "methods": {"mine": {"kappa": 0.25, "objective": "ilo", "supernet": {"lambda": 0.5}}},
        "experiments": {
            "mine": {"datasets": ["wine"], "networks": ["mlp_tab"], "methods": ["mine"]}
        },
    }
    (finished.path / "mine.yaml").write_text(json.dumps(overlay))
    output = finished.run("-n", *TEST_CONFIG, "mine.yaml")
    names = ("supernet", "prune", "finetune", "evaluate", "choose")
    jobs = planned_jobs(output)
    assert {name: jobs[name] for name in names} == dict.fromkeys(names, 1)
    assert not {"initialise", "tune", "refit", "train_dense", "split_table"} & set(jobs)
    assert "runs/wine/mlp_tab/kappa0.25-ilo-lambda0.5/seed0/ratio8/mask.safetensors" in output


@shares_a_run
def test_any_point_can_be_asked_for_by_its_path(finished):
    point = "results/test/runs/wine/mlp_tab-depth3/kappa0.5-scl-glorot-epochs1/seed7"
    finished.run(f"{point}/ratio4-cycles1/finetune.json", *TEST_CONFIG)
    report = json.loads((finished.path / point / "supernet.json").read_text())
    assert report["network"]["depth"] == 3
    assert {"kappa": 0.5, "objective": "scl", "epochs": 1, "seed": 7}.items() <= report[
        "settings"
    ].items()
    initial = finished.path / "results/test/runs/wine/mlp_tab-depth3/initial-glorot/seed7"
    assert json.loads((initial / "initial.json").read_text())["init"] == "glorot"


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


@shares_a_run
def test_transforms_matter_to_what_uses_them(finished):
    """Another hue: supernets with ILO on images, and what follows; nothing of tables or `sup`."""
    change = 'augment={"vision": {"color": {"hue": 0.2}}}'
    jobs = planned_jobs(finished.run("-n", *TEST_CONFIG, "--config", change))
    assert jobs["supernet"] == 2  # IUNET of mlp_vis and of resnet18
    assert "train_dense" not in jobs and "initialise" not in jobs


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


@shares_a_run
def test_a_progress_bar_in_a_terminal(finished):
    wildcards = [
        "dataset=wine",
        "network=mlp_tab",
        "kappa=1",
        "objective=sup",
        "init=",
        "variant=",
        "seed=5",
    ]
    initial = "results/test/runs/wine/mlp_tab/initial/seed5/initial.json"
    finished.run(initial, *TEST_CONFIG)
    script = ROOT / "workflow" / "scripts" / "supernet.py"
    # A pipe that says it is a terminal: a real one may lose what is unread at its close.
    as_if_watched = (
        "import runpy, sys; sys.stderr.isatty = lambda: True; sys.argv = sys.argv[1:]; "
        "sys.path.insert(0, sys.argv[0].rpartition('/')[0]); runpy.run_path(sys.argv[0])"
    )
    command = [sys.executable, "-c", as_if_watched, script, *wildcards, *TEST_CONFIG]
    process = subprocess.run(command, cwd=finished.path, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    assert "step/s" in process.stderr and "valid " in process.stderr
    log = finished.path / "results/test/logs/runs/wine/mlp_tab/kappa1-sup/seed5/supernet.log"
    assert "epoch 2/2" in log.read_text()


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

"""What the workflow plans: which jobs a target needs, and what they ask of the machine."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from configs import benchmark, merged
from conftest import ROOT, TEST_CONFIG, Workdir
from planning import load
from snakemake.exceptions import WorkflowError
from snakemake.iocontainers import Wildcards
from snakemake.resources import GroupResources
from snakemake.settings.types import ExecutionSettings
from snakemake_interface_executor_plugins.registry import ExecutorPluginRegistry

from iunet.cost import Estimate
from iunet.figures.catalog import FIGURES
from iunet.machine import device
from iunet.machine.resources import SPEEDS
from iunet.runs import paths
from iunet.runs.versions import closure, imports_of
from iunet.tables.catalog import TABLES

SUPERNET = "results/test/runs/wine/mlp_tab/kappa1-sup/seed0/supernet.json"
SLURM_PROFILE = ("--profile", str(ROOT / "profiles" / "slurm"))
RULES = [ROOT / "workflow" / "Snakefile", *(ROOT / "workflow" / "rules").glob("*.smk")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Workdir:
    """A folder in which nothing is run."""
    return Workdir(tmp_path_factory.mktemp("planning") / "work")


# ---- which jobs


def test_a_table_of_data_needs_no_run(folder):
    counts = folder.plan_with((), "results/tables/table9.csv").counts
    assert counts == {"download_table": 40, "split_table": 40, "table": 1, "total": 81}
    counts = folder.plan_with((), "download_all").counts
    assert counts == {"download_table": 40, "download_images": 3, "download_all": 1, "total": 44}


def test_a_table_asks_for_what_it_needs_and_nothing_else(folder):
    """Table 2 is of table 7's runs: three seeds of seven methods on two tables, no images."""
    tables = {"tabular": ["vehicle", "kc1"], "ablation": ["vehicle"], "search": ["kc1"]}
    counts = folder.plan_with((), "results/tables/table2.csv", datasets=tables).counts
    assert counts["table"] == 1 and counts["choose"] == 2 * 3
    assert (counts["tune"], counts["refit"], counts["evaluate_dense"]) == (6, 18, 6)
    assert counts["supernet"] == 2 * 3 * (1 + 1 + 5)
    assert counts["finetune"] == counts["evaluate"] == counts["supernet"]  # one cut of each
    assert not {"split_images", "figure", "page", "evaluate_supernet", "latency"} & set(counts)


def test_the_papers_config():
    """Everything: 40 tables, 3 image sets, 3 seeds (by the lineage, which plans as Snakemake)."""
    counts = Counter(job.identity["rule"] for job in Estimate(benchmark(merged())).everything())
    assert (counts["split_table"], counts["split_images"], counts["page"]) == (40, 3, 1)
    assert (counts["table"], counts["figure"]) == (len(TABLES), len(FIGURES) + 40)
    assert (counts["tune"], counts["refit"], counts["evaluate_tuned"]) == (120, 360, 360)
    assert counts["finetune"] == counts["evaluate"] >= counts["prune"]
    assert counts["train_dense"] == counts["evaluate_dense"] == 3 * (40 + 3 * 3 + 6)


def test_demo_and_paper_have_separate_roots():
    configs = (ROOT / "config").glob("[!o]*.yaml")  # own-*.yaml are put on top of the others
    roots = [yaml.safe_load(path.read_text())["results"] for path in configs]
    assert len(roots) == len(set(roots)) >= 4


def test_a_choice_is_among_the_methods_own_ratios(folder):
    """Another method's ratios of the same supernet are no candidates, and share the supernet."""
    more = {
        "methods": {"more": {"kappa": 0.25, "objective": "ilo", "ratios": [2, 4]}},
        "experiments": {
            "more": {"datasets": ["wine"], "networks": ["mlp_tab"], "methods": ["more"]}
        },
    }
    iunet, own = (f"results/test/runs/wine/mlp_tab/choice-{m}.json" for m in ("iunet", "more"))
    for targets, n in (((iunet,), 1), ((own,), 2), ((iunet, own), 3)):
        counts = folder.plan(*targets, **more).counts
        assert (counts["finetune"], counts["supernet"]) == (n, 1)
        assert not {"evaluate", "evaluate_supernet"} & set(counts)  # test data are not read


def test_a_supernet_that_is_not_pruned_has_no_subnetworks(folder):
    bare = {
        "methods": {"bare": {"kappa": 0.5, "objective": "sup", "prune": False}},
        "experiments": {
            "bare": {"datasets": ["wine"], "networks": ["mlp_tab"], "methods": ["bare"]}
        },
    }
    target = "results/test/runs/wine/mlp_tab/kappa0.5-sup/seed0/evaluation.json"
    counts = folder.plan(target, **bare).counts
    assert "finetune" not in counts and counts["evaluate_supernet"] == 1
    asked = folder.plan("experiments", **bare).outputs
    assert target in asked and not any("kappa0.5-sup/seed0/ratio" in path for path in asked)


def test_experiments_are_tables_and_pictures_of_their_own(folder):
    """And `experiments` runs those only: one method of one data set here."""
    mine = {"mine": {"datasets": ["wine"], "networks": ["mlp_tab"], "methods": ["omp"]}}
    whole_page = {"tables": "all", "figures": "all"}
    plan = folder.plan("experiments", experiments=mine)
    assert {plan.counts[rule] for rule in ("table", "figure", "supernet", "finetune")} == {1}
    assert "train_dense" not in plan.counts and "download_images" not in plan.counts
    forms = {f"results/test/tables/mine.{form}" for form in ("csv", "md", "tex", "html", "json")}
    assert forms | {"results/test/figures/mine.png"} <= plan.outputs
    page = folder.plan(experiments=mine, page=whole_page).job("page")
    assert {"results/test/tables/mine.json", "results/test/figures/mine.png"} <= set(page.input)
    with pytest.raises(WorkflowError, match="The config has no experiments"):
        folder.plan("experiments")
    for name, kind in (("table1", "table"), ("figure2", "figure")):
        with pytest.raises(WorkflowError, match=f"'experiments.{name}' has the name of a {kind}"):
            folder.plan(experiments={name: mine["mine"]})


def test_what_a_path_says_is_what_is_trained(folder):
    """Any point can be asked for, also one that no method of the config names."""
    point = "results/test/runs/wine/mlp_tab-depth3/kappa0.5-scl-glorot-epochs1/seed7"
    plan = folder.plan(f"{point}/ratio4-cycles1/finetune.json")
    initial = plan.job("initialise").params
    assert initial.network == {"name": "mlp_tab", "options": {"width": 16, "depth": 3}}
    assert initial.init == "glorot"
    asked = {"kappa": 0.5, "objective": "scl", "epochs": 1, "seed": 7}
    assert asked.items() <= plan.job("supernet").params.settings.items()
    assert plan.job("prune").params.cut["ratio"] == 4
    assert plan.job("finetune").params.settings["cycles"] == 1
    weights = "results/test/runs/wine/mlp_tab-depth3/initial-glorot/seed7/weights.safetensors"
    for rule in ("supernet", "prune", "finetune"):
        assert plan.job(rule).input.initial == weights


# ---- what the config may not say


def test_a_typo_in_the_config(folder):
    with pytest.raises(WorkflowError, match=r"unknown key 'sedes'. Did you mean 'seeds'\?"):
        load(folder.path, config={"sedes": [0]})


# ---- who reads what


@pytest.fixture(scope="module")
def workflow(folder):
    return load(folder.path, ("config/test.yaml",))


def test_only_evaluation_reads_test_data(folder):
    plan = folder.plan()
    rules = {job.rule.name for job in plan.jobs}
    reading = {job.rule.name for job in plan.jobs if any("/test.saf" in path for path in job.input)}
    assert reading == {rule for rule in rules if rule.startswith("evaluate")} and len(reading) == 4


def test_only_downloads_know_of_the_network():
    """They run where Snakemake does; what other jobs import has no way to a server."""
    for path in sorted((ROOT / "workflow" / "scripts").glob("[a-z]*.py")):
        used = closure(imports_of(path))
        online = ("iunet.data.download", "iunet.data.sources.")
        assert any(name.startswith(online) for name in used) == path.name.startswith("download"), (
            path.name
        )


def test_rules_that_run_where_snakemake_does(workflow):
    """Downloads, since compute nodes may be offline, and what takes seconds."""
    local = {"download_table", "download_images", "download_all", "choose", "study", "experiments"}
    assert workflow._localrules - {"all"} == local | {"table", "figure", "rows", "page"}


def test_every_rule_has_a_log_a_benchmark_a_message_and_an_environment(workflow):
    for rule in workflow.rules:
        if rule.name in ("all", "download_all", "experiments"):
            continue
        assert rule.log and rule.benchmark and rule.message and rule.conda_env, rule.name


def test_paths_are_said_once():
    """In iunet/runs/paths.py: rules name artifacts by it."""
    templates = {v for v in vars(paths).values() if isinstance(v, str) and "{" in v}
    assert len(templates) > 30
    for path in RULES:
        assert not re.search(r'"<results>/', path.read_text()), path


def test_planning_imports_nothing_heavy():
    """Every start parses the Snakefile, and with it these modules."""
    text = "".join(path.read_text() for path in RULES)
    modules = sorted(set(re.findall(r"^from (iunet[\w.]*) import", text, flags=re.MULTILINE)))
    assert {"iunet.runs.targets", "iunet.shown"} <= set(modules)
    modules.append("iunet.runs.versions")
    code = (
        f"import sys, {', '.join(modules)}\n"
        "for entry in iunet.tables.catalog.TABLES.values(): entry.module\n"
        "iunet.runs.versions.script_code(__import__('pathlib').Path('workflow/scripts/table.py'))\n"
        "print(sorted({'torch', 'pandas', 'numpy', 'sklearn', 'pyarrow'} & set(sys.modules)))"
    )
    output = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert output.stdout == "[]\n", output.stderr


# ---- the machine


@pytest.mark.parametrize(("wanted", "gpus"), [("cpu", 0), ("cuda", 1)])
def test_training_jobs_ask_for_a_gpu_only_where_there_is_one(
    folder, tmp_path, monkeypatch, wanted, gpus
):
    (tmp_path / "0").mkdir()
    monkeypatch.setattr(device, "NVIDIA_GPUS", tmp_path)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    job = folder.plan(SUPERNET, device=wanted).job("supernet")
    assert (job.resources.gpu, job.threads) == (gpus, 1)


# ---- with a scheduler


@pytest.mark.parametrize(("executor", "warned"), [("local", True), ("slurm", False)])
def test_warnings_about_this_machine_only_where_it_runs_jobs(folder, monkeypatch, executor, warned):
    workflow = load(folder.path, ("config/test.yaml",))
    workflow._executor_plugin = ExecutorPluginRegistry().get_plugin(executor)
    said: list[str] = []
    names = workflow.globals
    monkeypatch.setitem(names, "unusable_gpu_warning", lambda config: "The GPU cannot be used.")
    monkeypatch.setitem(names, "logger", SimpleNamespace(warning=said.append))
    with contextlib.chdir(folder.path):
        names["check_before_start"]()
    assert ("The GPU cannot be used." in said) is warned


def test_a_study_has_as_many_workers_as_the_config_says(folder):
    table = "results/test/tables/table7.csv"
    counts = folder.plan(table, tuning={"workers": 4}).counts
    assert counts["tune"] == 4 * counts["study"] == 4 * folder.plan(table).counts["tune"]


def test_no_job_asks_for_more_than_the_limit(folder):
    workflow = load(folder.path, (), {"cluster": {"max_minutes": 600}})
    study = {"dataset": "dionis", "learner": "mlp_c", "study": "tuning", "worker": "0"}
    asked = workflow.globals["job_resources"]("tune")["runtime"]
    assert [asked(Wildcards(fromdict=study), attempt) for attempt in (1, 2)] == [600, 600]


@pytest.mark.parametrize("wanted", ["cpu", "cuda"])
def test_no_group_asks_for_more_than_a_job_may_or_for_several_gpus(folder, wanted):
    """Small, medium and large data, cuts that share a mask, refits; at each attempt."""
    datasets = ["credit-g", "adult", "dionis", "click-prediction", "skin-segmentation"]
    changes = {
        "device": wanted,
        "seeds": [0, 1],
        "datasets": {"tabular": datasets},
        "tables": {
            "table1": {"datasets": ["cifar10"]},
            "table7": {"methods": ["omp", "iunet", "mlp_c"]},
        },
    }
    targets = [f"results/tables/table{n}.csv" for n in (1, 7)]
    workflow = folder.plan_with((), *targets, **changes).workflow
    workflow.execution_settings = ExecutionSettings()
    workflow.register_resource("gpu", 1)  # as profiles/default says
    dag = workflow.dag
    dag.update_groups()
    groups = {dag.get_job_group(job) for job in dag.needrun_jobs()} - {None}
    assert {job.group for group in groups for job in group} >= {"small", "cuts", "tuned", "splits"}
    gpus = set()
    for group in groups:
        group.finalize()
        for attempt in (1, 2, 4):
            for job in group:
                job.attempt = attempt
            for cores in (1, 8):  # with eight, jobs may run side by side
                workflow.register_resource("_cores", cores)
                asked = GroupResources.basic_layered(
                    group.toposorted, workflow.global_resources, run_local=False
                )
                assert asked["runtime"] <= 1440, (attempt, group)
                gpus.add(asked.get("gpu", 0))
    assert gpus == ({0, 1} if wanted == "cuda" else {0})


def test_a_generic_resource_is_the_same_for_all_jobs_of_a_group(folder):
    """Else Snakemake refuses the group: `gres` is a text. XGB's refits ask for no GPU."""
    changes = {
        "device": "cuda",
        "cluster": {"gres": "gpu:a100:1"},
        "datasets": {"tabular": ["credit-g", "adult", "click-prediction"]},
        "tables": {"table7": {"methods": ["dense", "iunet", "xgb", "mlp_c"]}},
    }
    workflow = folder.plan_with((), "results/tables/table7.csv", **changes).workflow
    workflow.execution_settings = ExecutionSettings()
    workflow.register_resource("_cores", 1)
    workflow.dag.update_groups()
    jobs = list(workflow.dag.needrun_jobs())
    groups = {workflow.dag.get_job_group(job) for job in jobs} - {None}
    asked: dict[str, set[str]] = {}
    for group in groups:
        group.finalize()
        resources = GroupResources.basic_layered(
            group.toposorted, workflow.global_resources, run_local=False
        )
        assert not resources.get("gpu")
        asked.setdefault(next(iter(group)).group, set()).add(resources.get("gres"))
    gpu = {"gpu:a100:1"}
    assert asked == {
        "small": gpu, "cuts": gpu, "dense": gpu, "tuned": gpu,
        "tuned_cpu": {""}, "splits": {""}, "initials": {""},
    }  # fmt: skip
    studies = {j.wildcards.learner: j.resources.gres for j in jobs if j.rule.name == "tune"}
    assert studies == {"xgb": "", "mlp_c": "gpu:a100:1"}


def test_the_time_of_a_group_grows_also_for_what_resumes(folder):
    workflow = load(folder.path, (), {"device": "cpu"})
    costs = workflow.globals["COSTS"]
    run = {"dataset": "credit-g", "network": "mlp_tab", "supernet": "kappa1-sup", "seed": "0"}
    point = Wildcards(fromdict=run)
    asked = [costs.minutes("supernet", point, attempt) for attempt in (1, 2)]
    assert costs.group("supernet", point) == "small" and asked[1] > asked[0]


def test_what_the_config_does_not_name_is_grouped_too(folder):
    """A file may be asked for by its name: a dense network, or a data set that no table has."""
    changes = {"tables": {"table7": {"methods": ["iunet"]}}, "cluster": {"max_minutes": 100_000}}
    costs = load(folder.path, (), {"device": "cpu", **changes}).globals["COSTS"]
    for dataset, network in (("adult", "mlp_tab"), ("cifar10", "cnn-alpha3")):
        run = {"dataset": dataset, "network": network, "dense": "dense", "seed": "0"}
        point = Wildcards(fromdict=run)
        assert costs.group("initialise", point) and costs.minutes("train_dense", point, 2) > 0


def test_the_cost_is_counted_for_the_jobs_of_the_plan(folder):
    for overlay in ("test", "demo"):
        planned = folder.plan_with((f"config/{overlay}.yaml",)).counts
        with contextlib.chdir(folder.path):
            estimate = Estimate(benchmark(merged(overlay)))
        counted = Counter(job.identity["rule"] for job in estimate.everything())
        assert counted == {r: n for r, n in planned.items() if r not in ("all", "total")}
        assert counted.total() <= 190  # what the demo's three minutes allow


@pytest.mark.parametrize(("device", "factor"), [("cpu", 2.0), ("cuda", None)])
def test_finished_runs_of_the_same_device_are_the_measure(tmp_path, device, factor):
    """A supernet that took twice its estimate doubles the hours of those that are to come."""
    bench = benchmark(merged("test", results=str(tmp_path)))
    plain = Estimate(bench)
    point = {"dataset": "wine", "network": "mlp_tab", "supernet": "kappa1-sup", "seed": "0"}
    job = plain.lineage.job("supernet", **point)
    hours = plain.frame([job])["longest"].iloc[0]
    took = {"total_s": 3600 * 2 * hours - SPEEDS["cpu"].start_s}
    report = Path(bench.path(paths.SUPERNET_REPORT, **point))
    report.parent.mkdir(parents=True)
    made = {"times": took, "environment": {"device_type": device}}
    report.write_text(json.dumps(made))
    measured = Estimate(bench)
    assert measured.factors == ({("supernet", "mlp_tab"): pytest.approx(factor)} if factor else {})
    assert measured.frame([job])["longest"].iloc[0] == pytest.approx(hours * (factor or 1))


def test_the_command_on_a_login_node_without_a_gpu(workdir):
    """As users type it, the targets last."""
    workdir.overlay("cuda.yaml", {"device": "cuda"})
    options = ("-n", "--cores", "2", *SLURM_PROFILE, *TEST_CONFIG, "cuda.yaml")
    result = workdir.snakemake(*options, "--resources", "gpu=1", "download_all", SUPERNET)
    assert result.returncode == 0, result.stderr
    output = result.stdout + result.stderr
    assert "jobs would run: download " in output and "supernet 2" in output

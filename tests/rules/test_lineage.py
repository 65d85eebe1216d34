"""The lineage of jobs: against Snakemake's own graph, and what repeats which jobs."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from configs import ROOT, benchmark, merged
from planning import plan

from iunet.runs import lineage as lineage_module
from iunet.runs import paths
from iunet.runs import stages as stages_module
from iunet.runs.lineage import SCRIPTS, Lineage, with_all_before
from iunet.runs.stages import STAGES
from iunet.runs.versions import closure, imports_of, is_plumbing

TRAINING = {"supernet", "finetune", "train_dense", "tune", "refit"}
EVALUATION = {"evaluate", "evaluate_supernet", "evaluate_dense", "evaluate_tuned"}
TUNED = {"tune", "study", "refit", "evaluate_tuned"}
AFTER_SUPERNET = {"prune", "finetune", "decoder", "choose", "latency"} | EVALUATION - {
    "evaluate_tuned",
    "evaluate_dense",
}


# ---- against Snakemake's graph


def small_mirror(folder: Path) -> Path:
    """A mirror with one table, as a plan sees it."""
    (folder / "tabular").mkdir(parents=True)
    with (folder / "tabular" / "index.csv").open("w", newline="") as file:
        csv.writer(file).writerows(
            [("name", "file", "sha256"), ("vehicle", "vehicle.parquet", "0" * 64)]
        )
    return folder


@pytest.fixture(scope="module")
def planned(tmp_path_factory):
    """A plan with every exception: another seed's mask, trained weights, a study for each seed,
    a file of the user's own, a mirror."""
    folder = tmp_path_factory.mktemp("lineage")
    (folder / "config").symlink_to(ROOT / "config")
    (folder / "own.csv").write_text("a,label\n1,x\n2,y\n")
    (folder / "own_registry.csv").write_text(
        "name,kind,source,location,target\nmine,tabular,file,own.csv,label\n"
    )
    methods = ["dense", "iunet_other_seed", "iunet_no_reinit", "beta_lasso", "xgb", "scl"]
    changes = {
        "seeds": [0, 1],
        "data": {
            "registry": ["config/datasets.csv", "own_registry.csv"],
            "mirror": str(small_mirror(folder / "mirror")),
        },
        "tuning": {"study_per": "seed", "workers": 1},
        "experiments": {
            "all_exceptions": {
                "datasets": ["wine", "mine", "vehicle"],
                "networks": ["mlp_tab"],
                "methods": methods,
            }
        },
    }
    return plan(folder, configfiles=("config/test.yaml",), config=changes)


def key_of(rule: str, wildcards: dict[str, str]) -> tuple:
    return (rule, *sorted(wildcards.items()))


def key_of_job(job: lineage_module.Job) -> tuple:
    return key_of(job.identity["rule"], job.identity["wildcards"])


def test_the_lineage_is_snakemakes_own_graph(planned):
    dag, lineage = planned.workflow.dag, planned.workflow.globals["LINEAGE"]
    jobs = [job for job in planned.jobs if not job.rule.norun]
    keys = {job: key_of(job.rule.name, dict(job.wildcards.items())) for job in jobs}
    ancestors: dict = {}
    for level in dag.toposorted():
        for job in level:
            before = dag.dependencies[job]
            ancestors[job] = set(before).union(*(ancestors[other] for other in before))
    for job in jobs:
        ours = lineage.job(job.rule.name, **dict(job.wildcards.items()))
        behind = {key_of_job(other) for other in with_all_before(ours.before)}
        assert behind == {keys[other] for other in ancestors[job]}, job
        for path in map(str, job.output):
            assert lineage.maker(path) is ours
            assert lineage.maker(f"in/a/module/{path}") is ours
    assert {job.rule.name for job in jobs} >= set(STAGES) - {"download_images", "latency"}


# ---- what repeats which jobs


def with_changes(config: dict, changes: dict) -> dict:
    """The config with values at keys such as "train.supernet.epochs"."""
    for key, value in changes.items():
        *sections, last = key.split(".")
        section = config
        for name in sections:
            section = section[name]
        section[last] = value
    return config


def described(**changes) -> dict[tuple, lineage_module.Job]:
    """Every job of runs that config/test.yaml has, with these changes ("train.threads": 2)."""
    bench = benchmark(with_changes(merged("test"), changes))
    lineage = Lineage(bench, STAGES)
    files = [path for cell in bench.cells for path in bench.results_of(cell)]
    place = {"dataset": "wine", "network": "mlp_tab"}
    files.append(bench.path(paths.LATENCY, **place, method="iunet"))
    for supernet in ("kappa1-scl", "kappa0.25-ilo"):
        files.append(bench.path(paths.SUPERNET_EVALUATION, **place, supernet=supernet, seed=0))
    return {key_of_job(job): job for job in with_all_before(lineage.makers(files))}


@pytest.fixture(scope="module")
def before() -> dict[tuple, lineage_module.Job]:
    return described()


def changed(before: dict, after: dict, what: str = "state") -> set[tuple]:
    return {key for key in before if getattr(before[key], what) != getattr(after[key], what)}


def edit(monkeypatch, module: str) -> dict:
    """The jobs, as if a module had been edited."""

    def marked(function):
        return lambda *names: [
            f"{line}*" if line.split(" ")[0] == module else line for line in function(*names)
        ]

    for place, name in (
        (lineage_module, "script_code"),
        (lineage_module, "code_lines"),
        (stages_module, "code_lines"),
    ):
        monkeypatch.setattr(place, name, marked(getattr(place, name)))
    return described()


@pytest.mark.parametrize(
    ("module", "rules"),
    [
        ("iunet.data.split", None),
        ("iunet.data.sources.embedded", None),
        ("iunet.method.pis", {"supernet"} | AFTER_SUPERNET),
        ("iunet.method.augment", None),
        ("iunet.training.loop", None),
        ("iunet.baselines.xgb", TUNED),
        ("iunet.baselines.study", TUNED),
        ("iunet.evaluation.evaluate", EVALUATION - {"evaluate_tuned"}),
        ("iunet.evaluation.choice", {"choose", "latency"}),
        ("iunet.scoring.metrics", {"choose", "latency"} | EVALUATION),
        ("iunet.evaluation.latency", {"latency"}),
        ("supernet.py", {"supernet"} | AFTER_SUPERNET),
        *((module, set()) for module in ("iunet.artifacts", "iunet.training.support.progress")),
        *((module, set()) for module in ("iunet.networks.catalog", "iunet.tables.table1")),
    ],
)
def test_an_edited_module_repeats_what_depends_on_it(before, monkeypatch, module, rules):
    after = edit(monkeypatch, module)
    assert not changed(before, after, "id")  # what exists stays the artifact of its run
    found = {key[0] for key in changed(before, after)}
    assert found == rules if rules is not None else found & TRAINING and "evaluate" in found


def test_a_network_repeats_its_own_runs_only(before, monkeypatch):
    found = changed(before, edit(monkeypatch, "iunet.networks.mlp_vis"))
    trained = [dict(pairs)["network"] for rule, *pairs in found if rule in TRAINING]
    assert trained and set(trained) == {"mlp_vis"}


@pytest.mark.parametrize(
    ("key", "value", "rules"),
    [
        ("train.supernet.epochs", 3, {"supernet"} | AFTER_SUPERNET),
        ("train.finetune_tabular.cycles", 3, None),
        ("augment.tabular.corruption", 0.5, None),
        ("split.seed", 12, None),
        ("networks.mlp_tab.width", 8, None),
        ("init", "glorot", None),
        ("prune.tabular.select_by", "accuracy", {"choose", "latency"}),
        ("tuning.xgb.max_rounds", 9, TUNED),
        ("tuning.xgb.trials", 4, TUNED),
        *((key, value, set()) for key, value in [("tuning.workers", 4), ("data.attempts", 9)]),
        *((key, value, set()) for key, value in [("train.checkpoint_s", 5), ("device", "cpu")]),
    ],
)
def test_a_changed_key_repeats_what_depends_on_it(before, key, value, rules):
    after = described(**{key: value})
    found = {key[0] for key in changed(before, after)}
    assert found == {key[0] for key in changed(before, after, "id")}
    assert found == rules if rules is not None else found & TRAINING and "evaluate" in found


def test_the_mask_of_another_seed_depends_on_the_list_of_seeds():
    def state(seeds: list[int], cut: str) -> str:
        lineage = Lineage(benchmark(merged("test", seeds=seeds)), STAGES)
        place = {"dataset": "wine", "network": "mlp_tab", "supernet": "kappa1-sup", "seed": "0"}
        return lineage.job("prune", **place, cut=cut).state

    assert state([0, 1], "ratio8-other_seed") != state([0, 2], "ratio8-other_seed")
    assert state([0, 1], "ratio8") == state([0, 2], "ratio8")


def test_the_content_of_a_file_of_ones_own_counts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def ident(text: str) -> str:
        Path("own.csv").write_text(text)
        bench = benchmark(merged("test", own="own.csv", target="label"))
        return Lineage(bench, STAGES).job("split_table", dataset="own").id

    assert ident("a,label\n1,x\n") != ident("a,label\n2,x\n")


# ---- which modules are among the parameters


@pytest.mark.parametrize("script", sorted(SCRIPTS.glob("[!_]*.py")), ids=lambda path: path.stem)
def test_every_module_that_a_script_reaches_is_a_parameter_or_plumbing(script):
    versions = {line.split(" ")[0] for line in lineage_module.script_code(script)}
    found, todo = set(), list(imports_of(script))
    while todo:
        module = todo.pop()
        if module not in found and not is_plumbing(module):
            assert module in versions, f"{module} is behind {script.name}, but no parameter"
            path = ROOT.joinpath(*module.split("."))
            todo.extend(
                imports_of(path / "__init__.py" if path.is_dir() else path.with_suffix(".py"))
            )
        found.add(module)


def test_trainings_reach_no_metric_table_or_figure():
    """A new metric, table or figure can repeat no training."""
    trainings = ("training.supernet", "training.finetune", "baselines.study", "baselines.refit")
    for module in trainings:
        reached = closure([f"iunet.{module}"])
        assert "iunet.scoring.metrics" not in reached
        assert not any(name.startswith(("iunet.tables", "iunet.figures")) for name in reached)

"""What repeats which jobs: every kind of change against every rule, in one loaded workflow.

The workflow is loaded and planned once. A change of code is a changed version among the parameters
of the rules, a change of the config a changed value in it; then the digests of all jobs are
computed anew, in this process, and compared.
"""

from __future__ import annotations

import copy
import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from iunet.cost import load_workflow
from iunet.runs.versions import closure, imports_of, is_plumbing

ROOT = Path(__file__).resolve().parents[2]
TRAINING = {"supernet", "finetune", "train_dense", "tune", "refit"}
EVALUATION = {"evaluate", "evaluate_supernet", "evaluate_dense", "evaluate_tuned"}
SHOWN = {"table", "figure", "page"}
FROM_RUNS = SHOWN | {"rows"}


class Loaded:
    """A planned workflow, and the digests of its jobs by rule and outputs."""

    def __init__(self, folder: Path):
        shutil.copytree(ROOT / "config", folder / "config")
        here = Path.cwd()
        os.chdir(folder)
        try:
            self.workflow = load_workflow([folder / "config" / "test.yaml"], [], True, {})
        finally:
            os.chdir(here)
        self.folder = folder
        self.names = self.workflow.globals
        self.jobs = [job for job in self.workflow.dag.jobs if not job.rule.norun]

    def states(self) -> dict[tuple[str, str], str]:
        return {key: job.state for key, job in self.described().items()}

    def identities(self) -> dict[tuple[str, str], str]:
        return {key: job.identity["id"] for key, job in self.described().items()}

    def described(self) -> dict[tuple[str, str], SimpleNamespace]:
        self.names["JOBS"].clear()
        for function in (
            "maker",
            "file_state",
            "ask_of_table",
            "all_rows",
            "ask_of_figure",
            "check_run",
        ):
            self.names[function].cache_clear()
        here = Path.cwd()
        os.chdir(self.folder)
        try:
            return {
                (job.rule.name, str(job.output[0])): self.names["job_of"](
                    job.rule.name, job.wildcards
                )
                for job in self.jobs
            }
        finally:
            os.chdir(here)

    def changed(self, before: dict) -> set[str]:
        """The rules some of whose jobs are not what they were."""
        return {
            rule for (rule, path), state in self.states().items() if before[rule, path] != state
        }

    def lines(self, rule: str) -> list[str]:
        """The versions of code among a rule's parameters that do not depend on wildcards."""
        return [p for p in self.workflow.get_rule(rule).params if isinstance(p, str)]


@pytest.fixture(scope="module")
def loaded(tmp_path_factory) -> Loaded:
    return Loaded(tmp_path_factory.mktemp("reruns"))


@pytest.fixture(scope="module")
def before(loaded) -> dict:
    return loaded.states()


@pytest.fixture(scope="module")
def identities(loaded) -> dict:
    return loaded.identities()


@pytest.fixture
def edited(loaded, before, identities, monkeypatch):
    """A function that pretends a module was edited, and returns the rules whose jobs repeat.

    What was made before the edit stays the artifact of its run, for whoever reads it unrepeated.
    """

    def edit(module: str) -> set[str]:
        code_lines = loaded.names["code_lines"]

        def mark(line: str) -> str:
            return f"{line}*" if line.split(" ")[0] == module else line

        monkeypatch.setitem(
            loaded.names, "code_lines", lambda *names: [mark(line) for line in code_lines(*names)]
        )
        kept = {rule: list(rule.params) for rule in loaded.workflow.rules}
        for rule, values in kept.items():
            rule.params[:] = [mark(v) if isinstance(v, str) else v for v in values]
        try:
            assert loaded.identities() == identities
            return loaded.changed(before)
        finally:
            monkeypatch.undo()
            for rule, values in kept.items():
                rule.params[:] = values

    return edit


AFTER_TRAINING = {"prune", "finetune", "decoder", "choose", "latency"} | EVALUATION | FROM_RUNS
EVERYTHING_AFTER_SPLIT = {"initialise", "tune", "study"} | TRAINING | AFTER_TRAINING


@pytest.mark.parametrize(
    ("module", "rules"),
    [
        ("iunet.data.table", "all"),
        ("iunet.data.split", {"split_table", "split_images"} | EVERYTHING_AFTER_SPLIT),
        ("iunet.data.sources.embedded", "all"),
        ("iunet.networks.mlp_tab", None),
        ("iunet.networks.resnet18", None),
        (
            "iunet.method.objectives",
            {"supernet", "train_dense"} | AFTER_TRAINING - {"evaluate_tuned"},
        ),
        ("iunet.method.augment", None),
        ("iunet.method.pis", {"supernet"} | AFTER_TRAINING - {"evaluate_dense", "evaluate_tuned"}),
        ("iunet.method.beta_lasso", None),
        ("iunet.training.loop", None),
        ("iunet.training.finetune", None),
        ("iunet.baselines.xgb", {"tune", "study", "refit", "evaluate_tuned"} | FROM_RUNS),
        ("iunet.baselines.tuning", {"tune", "study", "refit", "evaluate_tuned"} | FROM_RUNS),
        ("iunet.baselines.study", {"tune", "study", "refit", "evaluate_tuned"} | FROM_RUNS),
        ("iunet.evaluation.evaluate", EVALUATION - {"evaluate_tuned"} | FROM_RUNS),
        ("iunet.evaluation.choice", {"choose", "latency"} | FROM_RUNS),
        ("iunet.scoring.metrics", {"choose", "latency"} | EVALUATION | FROM_RUNS),
        ("iunet.evaluation.latency", {"latency"} | SHOWN - {"figure"}),
        ("iunet.tables.make", SHOWN),
        ("iunet.tables.ranking", SHOWN),
        ("iunet.tables.table1", {"table", "page"}),
        ("iunet.figures.style", {"figure", "page"}),
        ("iunet.figures.critical_difference", {"figure", "page"}),
        ("iunet.page.build", {"page"}),
        ("iunet.page.facts", {"page"}),
        ("iunet.paper", SHOWN),
    ],
)
def test_edited_science_repeats_what_depends_on_it(edited, loaded, module, rules):
    found = edited(module)
    if rules == "all":
        rules = {job.rule.name for job in loaded.jobs}
    if rules is None:  # trainings among others; which of them is said below
        assert found & TRAINING and {"table", "page"} <= found
    else:
        assert found == rules


def test_a_network_repeats_its_own_runs_only(edited, loaded, before, monkeypatch):
    edited_jobs = {}
    code_lines = loaded.names["code_lines"]
    monkeypatch.setitem(
        loaded.names,
        "code_lines",
        lambda *names: [f"{line}*" if "resnet18" in line else line for line in code_lines(*names)],
    )
    edited_jobs = {key for key, state in loaded.states().items() if before[key] != state}
    trained = [path for rule, path in edited_jobs if rule in TRAINING]
    assert trained and all("/resnet18/" in path for path in trained)


NEUTRAL = [  # progress, logs, signals, files of checkpoints, devices, catalogs, requests
    "iunet.artifacts",
    "iunet.errors",
    "iunet.provenance",
    "iunet.training.support.progress",
    "iunet.training.support.signals",
    "iunet.training.support.checkpoint",
    "iunet.training.support.environment",
    "iunet.machine.device",
    "iunet.machine.compiler",
    "iunet.machine.resources",
    "iunet.networks.catalog",
    "iunet.baselines.catalog",
    "iunet.tables.catalog",
    "iunet.figures.catalog",
    "iunet.data.registry",
    "iunet.data.sources",
    "iunet.runs.requests",
    "iunet.cost",
    "iunet.cli",
]


@pytest.mark.parametrize("module", NEUTRAL)
def test_edited_plumbing_repeats_nothing(edited, module):
    assert edited(module) == set()


@pytest.mark.parametrize(
    ("key", "value", "rules"),
    [
        (
            "train.supernet.epochs",
            3,
            {"supernet"} | AFTER_TRAINING - {"evaluate_dense", "evaluate_tuned"},
        ),
        ("train.supernet.lambda", 0.5, None),
        ("train.finetune_tabular.cycles", 3, None),
        ("augment.tabular.corruption", 0.5, None),
        ("split.seed", 12, {"split_table", "split_images"} | EVERYTHING_AFTER_SPLIT),
        ("split.max_categories", 5, None),
        ("networks.mlp_tab.width", 8, None),
        ("init", "glorot", None),
        ("prune.tabular.select_by", "accuracy", {"choose", "latency"} | FROM_RUNS),
        ("tuning.xgb.max_rounds", 9, {"tune", "study", "refit", "evaluate_tuned"} | FROM_RUNS),
        ("tuning.xgb.trials", 4, {"tune", "study", "refit", "evaluate_tuned"} | FROM_RUNS),
        ("device", "cpu", set()),
        ("train.checkpoint_s", 5, set()),
        ("data.attempts", 9, set()),
    ],
)
def test_a_changed_key_repeats_what_depends_on_it(loaded, before, monkeypatch, key, value, rules):
    *sections, last = key.split(".")
    config = loaded.names["config"]
    kept = copy.deepcopy(config)
    section = config
    for name in sections:
        section = section[name]
    section[last] = value
    try:
        found = loaded.changed(before)
    finally:
        config.clear()
        config.update(kept)
        loaded.names["BENCH"].config = config
    if rules is None:
        assert found & TRAINING and {"table", "page"} <= found
    else:
        assert found == rules


def test_a_changed_caption_makes_the_page_anew(loaded, before, monkeypatch):
    state = loaded.names["file_state"]
    page = [key for key in before if key[0] == "page"]

    def changed(path):
        return "changed" if path.endswith("captions/figure2.txt") else state(path)

    changed.cache_clear = state.cache_clear
    monkeypatch.setitem(loaded.names, "file_state", changed)
    after = loaded.states()
    assert [key for key in before if before[key] != after[key]] == page


# ---- which modules are among the parameters


def test_every_module_that_a_script_reaches_is_a_parameter_or_plumbing(loaded):
    for script in (ROOT / "workflow" / "scripts").glob("[!_]*.py"):
        versions = {line.split(" ")[0] for line in loaded.lines(script.stem)}
        found, todo = set(), list(imports_of(script))
        while todo:
            module = todo.pop()
            if module in found:
                continue
            found.add(module)
            if not is_plumbing(module):
                assert module in versions, f"{module} is behind {script.name}, but no parameter"
                todo.extend(imports_of(loaded.names["PROJECT"] / path_of(module)))


def path_of(module: str) -> Path:
    path = Path(*module.split("."))
    return path / "__init__.py" if (ROOT / path).is_dir() else path.with_suffix(".py")


def test_trainings_reach_no_metric_table_or_figure():
    """A new metric, table or figure can repeat no training."""
    for module in ("iunet.training.supernet", "iunet.training.finetune", "iunet.baselines.tuning"):
        reached = closure([module])
        assert "iunet.scoring.metrics" not in reached
        assert not any(name.startswith(("iunet.tables", "iunet.figures")) for name in reached)


def test_every_rule_with_a_script_carries_its_provenance(loaded):
    for rule in loaded.workflow.rules:
        if rule.script:
            names = {name for name, _ in rule.params._allitems()}
            assert {"upstream", "identity"} <= names, rule.name
            assert loaded.lines(rule.name), rule.name

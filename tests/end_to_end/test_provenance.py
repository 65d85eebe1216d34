"""Nothing stale and nothing foreign, shown by real jobs in a copy of the project.

The jobs are the smallest there are: two supernets of two layers on `wine`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("Snakefile", "config", "iunet", "profiles", "reports", "workflow", "envs")
RUNS = "results/test/runs/wine/mlp_tab"
IUNET, OMP = f"{RUNS}/kappa0.25-ilo/seed0", f"{RUNS}/kappa1-sup/seed0"
CHOICES = (f"{RUNS}/choice-iunet.json", f"{RUNS}/choice-omp.json")
EVALUATION = f"{IUNET}/ratio8/evaluation.json"
TABLE9 = "results/test/tables/table9.csv"
NOTHING = "Nothing to be done"


class Project:
    """A copy of the project, in which code may be edited."""

    def __init__(self, path: Path):
        self.path = path

    @classmethod
    def fresh(cls, path: Path) -> Project:
        path.mkdir(parents=True)
        for name in PARTS:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            copy(ROOT / name, path / name)
        return cls(path)

    def copied(self, path: Path, records: bool = True) -> Project:
        """With its results, and with or without Snakemake's records of them."""
        ignore = None if records else shutil.ignore_patterns(".snakemake")
        shutil.copytree(self.path, path, ignore=ignore)
        return Project(path)

    def snakemake(
        self, *arguments: str, overlay: tuple[str, ...] = ("config/test.yaml",)
    ) -> tuple[int, str]:
        options = [a for a in arguments if a.startswith("-")]
        targets = [a for a in arguments if not a.startswith("-")]
        command = [sys.executable, "-m", "snakemake", "--cores", "2", *options]
        command += [*(["--configfile", *overlay] if overlay else []), "--", *targets]
        environment = {**os.environ, "PYTHONPATH": str(self.path)}
        result = subprocess.run(
            command, cwd=self.path, env=environment, capture_output=True, text=True, timeout=600
        )
        return result.returncode, result.stdout + result.stderr

    def run(self, *arguments: str) -> str:
        code, output = self.snakemake(*arguments)
        assert code == 0, output[-3000:]
        return output

    def fail(self, *arguments: str) -> str:
        code, output = self.snakemake(*arguments)
        assert code != 0, output[-3000:]
        return output

    def edit(self, file: str, old: str, new: str) -> None:
        path = self.path / file
        text = path.read_text()
        assert text.count(old) >= 1, f"{file} has no {old!r}"
        path.write_text(text.replace(old, new))


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Project:
    """A project in which two choices, their evaluations and table 9 are made."""
    project = Project.fresh(tmp_path_factory.mktemp("finished") / "project")
    project.run(*CHOICES, EVALUATION, TABLE9)
    return project


@pytest.fixture
def project(finished, tmp_path) -> Project:
    return finished.copied(tmp_path / "project")


# ---- a change whose job fails once is not forgotten


def test_an_edit_whose_job_failed_once_is_still_pending(project):
    file, old = "iunet/scoring/metrics.py", '"accuracy": 100.0'
    broken = '"accuracy": [][0] or 100.0'
    project.edit(file, old, broken)
    project.fail(EVALUATION)
    project.edit(file, broken, '"accuracy": 100.00')
    assert NOTHING not in project.run(EVALUATION, "-n")


def test_a_setting_whose_job_failed_once_is_still_pending(project):
    """The choice by another score: its job fails, since its input is gone for a moment."""
    project.edit("config/test.yaml", "prune:\n", "prune:\n  tabular: {select_by: accuracy}\n")
    project.edit(
        "iunet/evaluation/choice.py", "labels = read_arrays", "labels = [][0]; read_arrays"
    )
    project.fail(CHOICES[0])
    project.edit(
        "iunet/evaluation/choice.py", "labels = [][0]; read_arrays", "labels = read_arrays"
    )
    project.run(CHOICES[0])
    choice = json.loads((project.path / CHOICES[0]).read_text())
    assert choice["metric"] == "valid_accuracy"


# ---- edits


def test_neutral_edits_repeat_nothing(project):
    for file, old, new in (
        ("iunet/training/support/progress.py", "samples/s", "rows per second"),
        ("iunet/training/loop.py", "The one training loop", "The only training loop"),
        ("iunet/machine/device.py", "not one of {", "none of {"),
    ):
        project.edit(file, old, new)
    (project.path / "workflow" / "scripts" / "supernet.py").touch()
    assert NOTHING in project.run(EVALUATION, *CHOICES, "-n")


def test_an_edit_is_named_and_can_be_accepted(project):
    project.edit(
        "iunet/training/loop.py", "return full + (rest > 1)", "return full + int(rest > 1)"
    )
    output = project.run(EVALUATION, "-n")
    assert "supernet" in output and "before: 'iunet.training.loop " in output.replace('"', "'")
    project.run(EVALUATION, *CHOICES, "--touch")
    # What is made next reads the older artifacts without complaint.
    assert "rule supernet" not in project.run(EVALUATION, f"{IUNET}/evaluation.json")


def test_results_copied_into_a_new_checkout_are_up_to_date(finished, tmp_path):
    """Where every file of the code is newer than every result."""
    project = Project.fresh(tmp_path / "project")
    for path in project.path.rglob("*"):
        path.touch()
    for part in ("results", ".snakemake"):
        shutil.copytree(finished.path / part, project.path / part)
    assert NOTHING in project.run(EVALUATION, *CHOICES, TABLE9, "-n")


# ---- artifacts of other runs


@pytest.mark.parametrize(
    ("source", "victim", "target", "fragments"),
    [
        (
            f"{OMP}/supernet.safetensors",
            f"{IUNET}/supernet.safetensors",
            f"{IUNET}/ratio4/mask.json",
            ["kappa1-sup", "kappa0.25-ilo"],
        ),
        (
            "results/test/splits/wine/test.safetensors",
            "results/test/splits/wine/train.safetensors",
            f"{RUNS}/kappa0.5-sup/seed0/supernet.json",
            ["'test.safetensors'"],
        ),
    ],
    ids=["supernet", "part of a split"],
)
def test_an_artifact_of_another_run_is_refused_by_name(project, source, victim, target, fragments):
    facts = (project.path / victim).stat()
    shutil.copy(project.path / source, project.path / victim)
    os.utime(project.path / victim, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    output = project.fail(target)
    assert victim in output
    assert all(fragment in output for fragment in fragments)
    assert "run the same command again" in output
    assert "Traceback (most recent call last)" not in output


def test_a_flipped_byte_is_refused_by_name(project):
    victim = project.path / IUNET / "supernet.safetensors"
    facts, content = victim.stat(), bytearray(victim.read_bytes())
    size = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + size])
    content[8 + size + header["encoder.0.weight"]["data_offsets"][0] + 2] ^= 1
    victim.write_bytes(content)
    os.utime(victim, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    output = project.fail(f"{IUNET}/ratio4/mask.json")
    assert f"{IUNET}/supernet.safetensors is damaged" in output


# ---- a folder that was copied without Snakemake's records


def test_copied_results_of_other_settings_are_named(finished, tmp_path):
    project = finished.copied(tmp_path / "project", records=False)
    project.edit("config/test.yaml", "supernet: {epochs: 2", "supernet: {epochs: 3")
    output = project.fail(EVALUATION, "-n")
    assert "epochs: expected 3, found 2" in output and "it was copied here" in output

"""Nothing stale and nothing foreign, shown by real jobs in copies of the project.

They begin with what the shared run of config/test.yaml has made of `wine`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import NOTHING, ROOT, Workdir

PARTS = ("Snakefile", "config", "iunet", "profiles", "reports", "workflow", "envs")
RESULTS = "results/test"
RUNS = f"{RESULTS}/runs/wine/mlp_tab"
IUNET, OMP = f"{RUNS}/kappa0.25-ilo/seed0", f"{RUNS}/kappa1-sup/seed0"
CHOICES = (f"{RUNS}/choice-iunet.json", f"{RUNS}/choice-omp.json")
EVALUATION = f"{IUNET}/ratio8/evaluation.json"
TABLE9 = "results/test/tables/table9.csv"


class Project:
    """A copy of the project, in which code may be edited."""

    def __init__(self, path: Path):
        self.path = path

    @classmethod
    def after(cls, finished: Workdir, path: Path) -> Project:
        """A new checkout, in which every file is newer than the results that are copied into it."""
        path.mkdir(parents=True)
        for name in PARTS:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            copy(ROOT / name, path / name)
        for part in ("data", "splits", "runs/wine", "tables"):
            shutil.copytree(finished.path / RESULTS / part, path / RESULTS / part)
        shutil.copytree(finished.path / ".snakemake", path / ".snakemake")
        return cls(path)

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


@pytest.fixture
def project(finished, tmp_path) -> Project:
    return Project.after(finished, tmp_path / "project")


# ---- a change whose job fails once is not forgotten


def test_changes_whose_jobs_failed_once_are_still_pending(project):
    """An edit of code; and the choice by another score, whose input is gone for a moment."""
    metrics, choice = "iunet/scoring/metrics.py", "iunet/evaluation/choice.py"
    project.edit("config/test.yaml", "prune:\n", "prune:\n  tabular: {select_by: accuracy}\n")
    project.edit(choice, "labels = read_arrays", "labels = [][0]; read_arrays")
    project.edit(metrics, '"accuracy": 100.0', '"accuracy": [][0] or 100.0')
    output = project.fail(EVALUATION, CHOICES[0])
    assert output.count("IndexError: list index out of range") == 2
    project.edit(choice, "labels = [][0]; read_arrays", "labels = read_arrays")
    project.edit(metrics, '"accuracy": [][0] or 100.0', '"accuracy": 100.00')
    output = project.run(EVALUATION, CHOICES[0], "-n")
    assert all(re.search(rf"^{rule} +1$", output, re.M) for rule in ("evaluate", "choose"))


# ---- edits


def test_a_new_checkout_and_neutral_edits_repeat_nothing(project):
    for path in project.path.joinpath("workflow").rglob("*"):
        path.touch()
    for file, old, new in (
        ("iunet/training/support/progress.py", "samples/s", "rows per second"),
        ("iunet/training/loop.py", "The one training loop", "The only training loop"),
        ("iunet/machine/device.py", "but torch cannot", "yet torch cannot"),
    ):
        project.edit(file, old, new)
    assert NOTHING in project.run(EVALUATION, *CHOICES, TABLE9, "-n")


def test_an_edit_is_named_and_can_be_accepted(project):
    project.edit(
        "iunet/training/loop.py", "return full + (rest > 1)", "return full + int(rest > 1)"
    )
    output = project.run(EVALUATION, "-n", "--verbose")
    assert "supernet" in output and "before: 'iunet.training.loop " in output.replace('"', "'")
    project.run(EVALUATION, *CHOICES, "--touch")
    # What is made next reads the older artifacts without complaint.
    assert "rule supernet" not in project.run(EVALUATION, f"{IUNET}/evaluation.json")


# ---- artifacts of other runs


def test_artifacts_of_other_runs_and_damaged_ones_are_refused_by_name(project):
    """Another run's supernet, the wrong part of a split, a byte that is not as it was written."""
    foreign, part = f"{IUNET}/supernet.safetensors", "results/test/splits/wine/train.safetensors"
    damaged = f"{OMP}/supernet.safetensors"
    contents = {
        foreign: (project.path / damaged).read_bytes(),
        part: (project.path / part).with_name("test.safetensors").read_bytes(),
        damaged: with_a_flipped_byte(project.path / damaged),
    }
    for victim, content in contents.items():
        facts = (project.path / victim).stat()
        (project.path / victim).write_bytes(content)
        os.utime(project.path / victim, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    output = project.fail(
        f"{IUNET}/ratio4/mask.json",
        f"{RUNS}/kappa0.5-sup/seed0/supernet.json",
        f"{OMP}/ratio4/mask.json",
    )
    said = {victim: lines_with(output, victim) for victim in contents}
    assert "kappa1-sup" in said[foreign] and "kappa0.25-ilo" in said[foreign]
    assert "'test.safetensors'" in said[part]
    assert f"{damaged} is damaged" in said[damaged]
    assert all("run the same command again" in lines for lines in said.values())
    assert "Traceback (most recent call last)" not in output


def with_a_flipped_byte(path: Path) -> bytes:
    content = bytearray(path.read_bytes())
    size = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + size])
    content[8 + size + header["encoder.0.weight"]["data_offsets"][0] + 2] ^= 1
    return bytes(content)


def lines_with(output: str, text: str) -> str:
    return "\n".join(line for line in output.splitlines() if text in line)


# ---- a folder that was copied without Snakemake's records


def test_copied_results_of_other_settings_are_named(project):
    shutil.rmtree(project.path / ".snakemake")
    project.edit("config/test.yaml", "supernet: {epochs: 2", "supernet: {epochs: 3")
    output = project.fail(EVALUATION, "-n")
    assert "epochs: expected 3, found 2" in output and "it was copied here" in output

"""One set of versions: pyproject.toml, requirements.lock, envs/*.yaml and what is installed."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys
import tomllib

import pytest
import yaml
from conftest import ROOT
from packaging.requirements import Requirement

PIN = re.compile(r"(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^ ;]+)")


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(requirements: list[str]) -> dict[str, str]:
    found = {}
    for requirement in requirements:
        match = PIN.match(requirement)
        assert match, f"not pinned: {requirement}"
        found[canonical(match["name"])] = match["version"]
    return found


LINES = (ROOT / "requirements.lock").read_text().splitlines()
LOCK = pins([line for line in LINES if line and not line.startswith("#")])
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
ENVS = sorted((ROOT / "envs").glob("*.yaml"))


EXTRAS = PROJECT["optional-dependencies"]
EVERY = [*PROJECT["dependencies"], *(r for extra in EXTRAS.values() for r in extra)]
DIRECT = [Requirement(requirement) for requirement in EVERY]


@pytest.mark.parametrize("requirement", DIRECT, ids=str)
def test_the_lock_is_within_the_ranges(requirement):
    assert requirement.specifier and not str(requirement.specifier).startswith("==")
    assert LOCK[canonical(requirement.name)] in requirement.specifier


def test_the_agreed_pins():
    assert (LOCK["torch"], LOCK["torchvision"]) == ("2.13.0", "0.28.0")
    assert LOCK["snakemake"].startswith("9.")
    agreed = {"openml", "pandas", "scikit-learn", "xgboost", "pytorch-tabnet"}
    assert agreed | {"matplotlib", "seaborn"} <= set(LOCK)


@pytest.mark.parametrize("path", ENVS, ids=lambda path: path.name)
def test_conda_environments_have_the_locks_versions(path):
    dependencies = yaml.safe_load(path.read_text())["dependencies"]
    (by_pip,) = (entry["pip"] for entry in dependencies if isinstance(entry, dict))
    assert pins(by_pip).items() <= LOCK.items()


def test_every_environment_of_a_rule_exists_and_is_used():
    rules = "".join(path.read_text() for path in (ROOT / "workflow" / "rules").glob("*.smk"))
    assert set(re.findall(r"envs/([\w-]+\.yaml)", rules)) == {path.name for path in ENVS}


def test_the_lock_is_what_is_installed():
    for name, version in LOCK.items():
        assert importlib.metadata.version(name).partition("+")[0] == version


def test_the_libraries_of_cuda_are_torchs_own():
    """Two wheels of NCCL write the same file, so XGBoost's is left out: see the Makefile."""
    assert not [name for name in LOCK if name.startswith("nvidia-")]
    code = "import sys, xgboost; sys.exit(any('nccl' in name for name in sys.modules))"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_lock_entry_is_needed_by_something():
    """No leftovers: each package is a direct dependency, or required by another of the lock."""
    needed = {canonical(requirement.name) for requirement in DIRECT} | {"setuptools"}
    for name in LOCK:
        try:
            requirements = importlib.metadata.requires(name) or []
        except importlib.metadata.PackageNotFoundError:
            continue
        names = (re.match(r"[A-Za-z0-9._-]+", requirement)[0] for requirement in requirements)
        needed |= set(map(canonical, names))
    assert set(LOCK) <= needed


def test_version_is_said_once():
    import iunet

    assert PROJECT["version"] == iunet.__version__
    assert f"version: {iunet.__version__}" in (ROOT / "CITATION.cff").read_text()

from __future__ import annotations

import csv
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(Path(__file__).parent / "helpers"))
# Before torch is imported, and for all processes: tests run side by side, and two threads each on
# two cores wait for each other, a hundred times longer than the work takes.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
os.environ["CUDA_VISIBLE_DEVICES"] = ""  # tests are the same on a machine with a GPU

# A shell ignores these signals in its background jobs, and so would all that the tests start.
for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
    if signal.getsignal(number) is signal.SIG_IGN:
        interrupt = number == signal.SIGINT
        signal.signal(number, signal.default_int_handler if interrupt else signal.SIG_DFL)

from planning import Plan, plan  # noqa: E402

# Workers take whole files, in this order and then as they are collected: long ones first, so that
# none is alone with one at the end; none that needs the shared run while the first file makes it.
LONG_FIRST = (
    *("test_cluster", "test_a_whole_run", "test_own_data", "test_study_documents"),
    *("test_published_study", "test_planning", "test_readme", "test_fake_cuda", "test_extending"),
    *("test_provenance", "test_a_run_goes_on", "test_wheel", "test_tables_beyond", "test_training"),
    *("test_results", "test_own", "test_questions", "test_figure_files"),
)


def pytest_collection_modifyitems(items):
    rank = {name: place for place, name in enumerate(LONG_FIRST)}
    items.sort(key=lambda item: rank.get(item.path.stem, len(rank)))


@pytest.fixture(autouse=True)
def denormal_numbers():
    """Training flushes them to zero in the whole process, in which hypothesis refuses to work."""
    yield
    if "torch" in sys.modules:
        sys.modules["torch"].set_flush_denormal(False)


@pytest.fixture(scope="session")
def mirror() -> Path:
    """The offline mirror of real data; tests that need it are skipped where it is absent."""
    path = Path(os.environ.get("IUNET_TEST_MIRROR", ROOT.parent / "shared" / "data"))
    if not (path / "tabular" / "index.csv").is_file():
        pytest.skip(f"no mirror of real data at {path} (set IUNET_TEST_MIRROR)")
    return path.resolve()


class Workdir:
    """A folder with the project's config, in which the workflow runs as a user would run it."""

    def __init__(self, path: Path):
        self.path = path
        if not path.exists():
            shutil.copytree(ROOT / "config", path / "config")

    def snakemake(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess:
        """The command as `make` installs it, with the project's Snakefile."""
        command = [Path(sys.executable).parent / "snakemake", "--snakefile", ROOT / "Snakefile"]
        return subprocess.run(
            [*command, *arguments],
            cwd=self.path,
            capture_output=True,
            text=True,
            timeout=900,
            env=os.environ | environment,
        )

    def run(self, *arguments: str, **environment: str) -> str:
        """The output of a run that must succeed."""
        result = self.snakemake("--cores", "2", *arguments, **environment)
        assert result.returncode == 0, result.stderr[-3000:]
        return result.stdout + result.stderr

    def fail(self, *arguments: str) -> str:
        """The output of a run that must fail."""
        result = self.snakemake("--cores", "2", *arguments)
        assert result.returncode != 0
        return result.stdout + result.stderr

    def plan(self, *targets: str, **config: Any) -> Plan:
        """What would run with config/test.yaml; changes of the config as `split={…}`."""
        return self.plan_with(("config/test.yaml",), *targets, **config)

    def plan_with(self, configfiles: tuple[str, ...], *targets: str, **config: Any) -> Plan:
        return plan(self.path, *targets, configfiles=configfiles, config=config)

    def overlay(self, name: str, content: dict[str, Any]) -> str:
        """A config file, as JSON, which is YAML too."""
        (self.path / name).write_text(json.dumps(content))
        return name


@pytest.fixture
def workdir(tmp_path) -> Workdir:
    return Workdir(tmp_path / "work")


@pytest.fixture(scope="session")
def finished(tmp_path_factory, request) -> Workdir:
    """A finished run of config/test.yaml, made once for all workers. Only to be looked at."""
    folder = tmp_path_factory.getbasetemp()
    if hasattr(request.config, "workerinput"):
        folder = folder.parent  # of all workers
    with (folder / "finished.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        workdir = Workdir(folder / "finished")
        if not (folder / "finished.done").exists():
            workdir.run(*TEST_CONFIG)
            (folder / "finished.done").touch()
    return workdir


@pytest.fixture
def finished_copy(finished, tmp_path) -> Workdir:
    """A copy of it, for tests that change something."""
    shutil.copytree(finished.path, tmp_path / "work")
    return Workdir(tmp_path / "work")


# ---- what tests of the workflow read in its output


TEST_CONFIG = ("--configfile", "config/test.yaml")
NOTHING = "Nothing to be done"


def read_csv(path: Path) -> dict[str, dict[str, str]]:
    """The rows of a CSV by their data set."""
    with path.open(newline="") as file:
        return {row["dataset"]: row for row in csv.DictReader(file)}

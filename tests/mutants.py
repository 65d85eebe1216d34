"""Do the tests fail where the science is wrong? Each mutant is one wrong line that they must catch.

    python tests/mutants.py [--ci] [--jobs 2] [WORD …]

`tests/mutants.yaml` lists them: a file, the text to replace, its replacement, and the tests of
which one must fail. They are tried on a copy of the tree. A mutant survives if its tests pass; then
a test is missing. The program fails if one survives, if its text is not in the file exactly once,
or if its tests cannot be run. `--ci` tries the fixed dozen that is marked so, a WORD those whose
file or description contains it.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import re
import shutil
import signal
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COPIED = ("iunet", "tests", "config", "workflow", "reports", "Snakefile", "pyproject.toml")
LONGEST_S = 300  # of one mutant's tests
PASSED, FAILED = 0, 1  # pytest's exit codes; others mean that no test was run


@dataclass(frozen=True)
class Mutant:
    file: str
    wrong: str  # what the replacement gets wrong, in a few words
    replace: str
    by: str
    tests: list[str]
    ci: bool = False

    def applied(self, source: str) -> str:
        if (found := source.count(self.replace)) != 1:
            raise ValueError(f"its text is in {self.file} {found} times, not once")
        return source.replace(self.replace, self.by)


def read_mutants(path: Path = ROOT / "tests" / "mutants.yaml") -> list[Mutant]:
    import yaml

    return [Mutant(**entry) for entry in yaml.safe_load(path.read_text())]


def own_tree(folder: Path) -> Path:
    """The copy that this process changes."""
    to = folder / f"tree{os.getpid()}"
    for name in COPIED if not to.exists() else ():
        source = ROOT / name
        to.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, to / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, to / name)
    return to


def import_what_is_slow() -> None:
    """Once, in the process that all mutants are forked from; nothing of the package itself."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
    sys.dont_write_bytecode = True  # of a mutant, which the next one would take for its own
    import hypothesis
    import pandas
    import pytest
    import scipy.stats
    import sklearn.model_selection
    import torch

    assert pandas and pytest and scipy and sklearn and torch
    # One example that fails is enough: none is made smaller, none is kept.
    phases = [hypothesis.Phase.explicit, hypothesis.Phase.generate]
    hypothesis.settings.register_profile("mutants", phases=phases, database=None)
    hypothesis.settings.load_profile("mutants")


def run_tests(tree: Path, tests: list[str], log: Path) -> int | None:
    """pytest's exit code, from a process of its own; None if it did not come to an end."""
    child = os.fork()
    if child == 0:
        signal.alarm(LONGEST_S)
        sys.stdout = sys.stderr = out = log.open("w")
        os.dup2(out.fileno(), 1)
        os.dup2(out.fileno(), 2)
        os.chdir(tree)
        sys.path.insert(0, str(tree))
        os.environ["PYTHONPATH"] = str(tree)
        os.environ.setdefault("IUNET_TEST_MIRROR", str(ROOT.parent / "shared" / "data"))
        import pytest

        code = pytest.main(["-x", "-p", "no:cacheprovider", "-p", "no:xdist", *tests])
        sys.stdout.flush()
        os._exit(int(code))
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return status if status >= 0 else None


def try_out(mutant: Mutant, tree: Path) -> tuple[bool, str]:
    """Whether it was killed, and by which test, or why not."""
    path, log = tree / mutant.file, tree / "tests.log"
    source = path.read_text()
    try:
        path.write_text(mutant.applied(source))
        code = run_tests(tree, mutant.tests, log)
    except ValueError as error:
        return False, str(error)
    finally:
        path.write_text(source)
    said = log.read_text()
    if code == FAILED and (failed := re.search(r"^FAILED (\S+)", said, re.MULTILINE)):
        return True, failed[1]
    if code == PASSED:
        return False, "SURVIVES: its tests pass"
    return False, f"its tests could not be run (exit code {code}): {said[-1500:]}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--ci", action="store_true", help="the fixed dozen only")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("words", nargs="*")
    arguments = parser.parse_args()
    mutants = [
        m
        for m in read_mutants()
        if (m.ci or not arguments.ci)
        and (not arguments.words or any(w in f"{m.file} {m.wrong}" for w in arguments.words))
    ]
    import_what_is_slow()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="iunet-mutants-") as folder:
        if not arguments.ci and not unchanged_tests_pass(mutants, Path(folder)):
            return 1
        with multiprocessing.get_context("fork").Pool(arguments.jobs) as pool:
            work = [(mutant, folder) for mutant in mutants]
            killed = list(pool.imap(try_out_and_tell, work, chunksize=1))
    print(f"{sum(killed)} of {len(mutants)} mutants killed in {time.monotonic() - began:.0f} s")
    return 0 if all(killed) and mutants else 1


def unchanged_tests_pass(mutants: list[Mutant], folder: Path) -> bool:
    """Else a mutant might seem killed by a test that fails anyway. (In CI they just passed.)"""
    every = sorted({test for mutant in mutants for test in mutant.tests})
    log = folder / "unchanged.log"
    passed = run_tests(own_tree(folder), every, log) == PASSED
    if not passed:
        print(f"The tests fail without a mutant:\n{log.read_text()[-3000:]}")
    return passed


def try_out_and_tell(work: tuple[Mutant, str]) -> bool:
    mutant, folder = work
    killed, said = try_out(mutant, own_tree(Path(folder)))
    print(
        f"{'killed' if killed else 'ALIVE '}  {mutant.file}: {mutant.wrong}  ({said})", flush=True
    )
    return killed


if __name__ == "__main__":
    sys.exit(main())

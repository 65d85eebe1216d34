"""The list of mutants fits the code; `make mutants` tries them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "tests"))

from mutants import Mutant, read_mutants, try_out

MUTANTS = read_mutants()


def test_there_are_enough_of_them_everywhere():
    assert len(MUTANTS) >= 60 and sum(mutant.ci for mutant in MUTANTS) == 12
    rooms = {"method", "training", "data", "evaluation", "scoring", "baselines", "tables"}
    assert rooms <= {mutant.file.split("/")[1] for mutant in MUTANTS}


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: f"{Path(m.file).stem}: {m.wrong}")
def test_its_text_and_its_tests_are_there(mutant):
    assert mutant.applied((ROOT / mutant.file).read_text())
    assert mutant.tests
    for test in mutant.tests:
        file, _, name = test.partition("::")
        assert f"def {name}(" in (ROOT / file).read_text()


@pytest.fixture
def tree(tmp_path):
    """A package of one line, and tests of it that can fail, or cannot, or do not run."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "toy_science.py").write_text("def double(x):\n    return x + x\n")
    tests = "from toy_science import double\n\ndef test_good(): assert double(3) == 6\n\n"
    tests += "def test_weak(): assert double(0) == 0\n"
    (tmp_path / "tests" / "test_double.py").write_text(tests)
    return tmp_path


@pytest.mark.parametrize(
    ("text", "test", "killed", "said"),
    [
        ("x + x", "test_good", True, "tests/test_double.py::test_good"),
        ("x + x", "test_weak", False, "SURVIVES"),
        ("x + x", "test_absent", False, "could not be run"),
        ("x - x", "test_good", False, "0 times, not once"),
        ("x", "test_good", False, "3 times, not once"),
    ],
)
def test_what_becomes_of_a_mutant(tree, text, test, killed, said):
    source = (tree / "toy_science.py").read_text()
    mutant = Mutant("toy_science.py", "x²", text, "x * x", [f"tests/test_double.py::{test}"])
    outcome = try_out(mutant, tree)
    assert outcome[0] is killed and said in outcome[1]
    assert (tree / "toy_science.py").read_text() == source

"""docs/method.md is current, complete and names nothing that is not in this repository."""

from __future__ import annotations

import re

import pytest
import yaml
from conftest import ROOT

from iunet.errors import UserError
from iunet.page.decisions import read_decisions
from iunet.page.docs import with_decisions

METHOD = (ROOT / "docs" / "method.md").read_text(encoding="utf-8")
DECISIONS = ROOT / "reports" / "decisions.yaml"
WORKS = r"Kadra et al\. 2021|ShrinkBench|Neyshabur 2020|Chen et al\. 2020|Bahri et al\. 2021"


def test_the_decisions_of_the_document_are_those_of_the_file():
    assert with_decisions(METHOD, read_decisions(DECISIONS)) == METHOD, "run `make docs`"


def test_a_document_without_markers_is_refused():
    with pytest.raises(UserError, match="lacks the markers"):
        with_decisions("# Title\n", [])


def test_a_decision_comes_from_the_paper_another_work_or_us():
    entries = yaml.safe_load(DECISIONS.read_text(encoding="utf-8"))
    for entry in entries:
        assert re.match(rf"ours|paper, (section|appendi|table)|{WORKS}", entry["source"]), entry
        assert entry["section"], entry
    topics = [entry["topic"] for entry in entries]
    assert len(topics) == len(set(topics))


def test_the_code_has_what_the_document_names():
    """The table at its top: functions and classes anywhere in the package."""
    code = "\n".join(path.read_text(encoding="utf-8") for path in ROOT.glob("iunet/**/*.py"))
    rows = re.findall(r"^\| .*? \| (.*) \|$", METHOD.split("## 1.")[0], flags=re.MULTILINE)
    names = re.findall(
        r"`(\w+)`", "\n".join(re.sub(r" in the modules? .*", "", row) for row in rows)
    )
    assert "nce_loss" in names
    assert [n for n in names if not re.search(rf"^(def|class) {n}\b", code, re.MULTILINE)] == []
    of_modules = re.findall(r"in the modules? (.*)", "\n".join(rows))
    modules = re.findall(r"`(\w+)`", "\n".join(of_modules))
    assert "choice" in modules
    assert [n for n in modules if not list(ROOT.glob(f"iunet/**/{n}.py"))] == []

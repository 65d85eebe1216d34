"""What documents and comments refer to exists."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT

DOCUMENTS = [
    *sorted(ROOT.glob("docs/*.md")),
    *(
        ROOT / name
        for name in (
            "README.md",
            "CONTRIBUTING.md",
            "reports/cpu-study/README.md",
            "reports/cpu-study/details.md",
        )
    ),
]
FOLDERS = "iunet|tests|docs|config|workflow|benchmarks|profiles|reports"
PLACE = re.compile(rf"(?<![\w/.-])(?:{FOLDERS})/[\w/.-]+\.(?:py|md|smk|yaml|csv)\b")
EXTENDING = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
# Files that a reader makes by following examples.
MADE = {"tests/test_double.py", *re.findall(r"^ *# (iunet/\S+\.py)$", EXTENDING, re.M)}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(path):
    text = path.read_text(encoding="utf-8")
    links = re.findall(r"\]\((?!http)([^)#]*)#?([^)]*)\)", text)
    targets = [(path.parent / link if link else path, anchor) for link, anchor in links]
    assert [target for target, _ in targets if not target.exists()] == []
    assert [f"{t}#{anchor}" for t, anchor in targets if anchor and anchor not in anchors(t)] == []


def anchors(document: Path) -> set[str]:
    """The names that GitHub gives to headings."""
    titles = re.findall(r"^#+ (.*)$", document.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\s-]", "", title.lower()).replace(" ", "-") for title in titles}


def test_files_that_are_named_are_there():
    """In prose, comments and messages alike: a file that moved leaves no wrong name behind."""
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True).stdout
    names = tracked.splitlines() or ["README.md", "CONTRIBUTING.md"]  # a copy without git
    names = [name for name in names if name.endswith((".md", ".py", ".smk", ".yaml"))]
    wrong = {
        f"{name}: {place}"
        for name in names
        for place in PLACE.findall((ROOT / name).read_text(encoding="utf-8"))
        if place not in MADE and not (ROOT / place).exists()
    }
    assert wrong == set()


def test_the_packages_of_the_document_are_those_of_the_project():
    text = (ROOT / "docs" / "reproduce.md").read_text(encoding="utf-8")
    table = text[text.index("| package of `iunet/` |") :]
    named = re.findall(r"`(\w+)/`", "\n".join(re.findall(r"^\| (`.*?) \|", table, re.M)))
    assert sorted(named) == sorted(path.parent.name for path in ROOT.glob("iunet/*/__init__.py"))

"""The report: one self-contained HTML page made of table documents, figures and run facts."""

from __future__ import annotations

from pathlib import Path


def page_sources(project: Path) -> list[str]:
    """The page's own files in reports/: an edit of one makes the page again."""
    folder = project / "reports"
    names = ["page/template.html", "page/style.css", "page/script.js", "decisions.yaml"]
    captions = sorted((folder / "captions").glob("*.txt"))
    return [str(folder / name) for name in names] + [str(path) for path in captions]

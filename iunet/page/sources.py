"""The page's own files in reports/: template, style, script, decisions and captions."""

from __future__ import annotations

from pathlib import Path


def page_sources(project: Path) -> list[str]:
    """All of them, so that an edit makes the page anew, wherever the workflow is called from."""
    folder = project / "reports"
    names = ["page/template.html", "page/style.css", "page/script.js", "decisions.yaml"]
    captions = sorted((folder / "captions").glob("*.txt"))
    return [str(folder / name) for name in names] + [str(path) for path in captions]

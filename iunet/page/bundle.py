"""What the page is made of. `write_page` takes this as plain JSON-like data or as a `Bundle`.

{"title": "IUNET, regenerated", "notice": "Demo: …" or null,
 "facts": {...RunFacts...}, "tables": [table documents, in the order of the page],
 "claims": table document of the claims, or null,
 "evidence": table document of the metric problem, or null,
 "figures": [{...Figure...}], "decisions": "reports/decisions.yaml",
 "unavailable": {"nomao": "not in the mirror"}, "limits": ["…"]}
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from iunet.errors import UserError, nearest
from iunet.page.documents import Document, check_document


@dataclass
class RunFacts:
    """What was run, where, and with which code."""

    config_name: str  # e.g. config/demo.yaml
    config: dict[str, Any]  # the whole config, shown as text and beside the decisions
    seeds: list[int] = field(default_factory=list)
    budgets: dict[str, str] = field(default_factory=dict)  # method → "40 trials per hyperparameter"
    machine: dict[str, str] = field(default_factory=dict)  # "CPU" → "2 cores, x86_64"
    versions: dict[str, str] = field(default_factory=dict)  # package → version
    commit: str | None = None
    dirty: bool | None = None  # files of the project differ from the commit
    newest_artifact: str | None = None  # ISO date: the page has no clock of its own
    jobs: dict[str, dict[str, float]] = field(default_factory=dict)  # rule → {"jobs", "seconds"}


@dataclass
class Figure:
    id: str
    title: str
    caption: str = ""
    png: str | None = None  # a path; embedded in the page
    pdf: str | None = None  # a path; embedded as a download
    missing: str | None = None  # the reason, in place of a png

    def check(self) -> None:
        if self.png is None and not self.missing:
            raise UserError(f"The figure '{self.id}' has neither a png nor a reason under missing.")
        for path in filter(None, (self.png, self.pdf)):
            if not Path(path).is_file():
                raise UserError(
                    f"The figure '{self.id}' names {path}, which does not exist: run the rule that "
                    "draws it first."
                )


@dataclass
class Bundle:
    facts: RunFacts
    title: str = "IUNET, regenerated"
    notice: str | None = None  # shown on top, e.g. what a demo has scaled down
    tables: list[Document] = field(default_factory=list)
    claims: Document | None = None  # its `data` has the lines of the ledger
    evidence: Document | None = None
    figures: list[Figure] = field(default_factory=list)
    decisions: str | None = None  # a YAML file (reports/decisions.yaml)
    unavailable: dict[str, str] = field(default_factory=dict)  # data set → reason
    limits: list[str] = field(default_factory=list)

    def documents(self) -> list[Document]:
        """Every table document of the page."""
        return [*filter(None, [self.claims]), *self.tables, *filter(None, [self.evidence])]

    def check(self) -> None:
        documents = self.documents()
        for document in documents:
            check_document(document)
        for figure in self.figures:
            figure.check()
        names = [entry["id"] for entry in documents] + [figure.id for figure in self.figures]
        if twice := [name for name in names if names.count(name) > 1]:
            raise UserError(f"The page has two parts with the id '{twice[0]}'.")


def bundle_from(content: dict[str, Any] | Bundle) -> Bundle:
    """A checked bundle from plain data; an unknown or missing key is refused by name."""
    if isinstance(content, Bundle):
        bundle = content
    else:
        content = dict(content)
        content["facts"] = _filled(RunFacts, content.get("facts") or {}, "facts")
        figures = content.get("figures") or []
        content["figures"] = [_filled(Figure, figure, "figures") for figure in figures]
        bundle = _filled(Bundle, content, "the bundle")
    bundle.check()
    return bundle


def _filled(kind: type, content: Any, where: str) -> Any:
    if isinstance(content, kind):
        return content
    known = {entry.name for entry in fields(kind)}
    if unknown := [key for key in content if key not in known]:
        raise UserError(
            f"The page's bundle has the unknown key '{unknown[0]}' in {where}."
            f"{nearest(unknown[0], known)}"
        )
    try:
        return kind(**content)
    except TypeError as error:
        raise UserError(f"The page's bundle is incomplete in {where}: {error}.") from error

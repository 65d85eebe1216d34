"""The report page: a bundle and the template of reports/page/ become one HTML file.

Everything is inside the file (style, script, figures, the tables' data), so it opens offline; a
content security policy forbids every request. The same bundle gives the same bytes.
"""

from __future__ import annotations

import base64
import io
import json
import os
import zlib
from pathlib import Path
from typing import Any

import jinja2
import yaml
from markupsafe import Markup
from PIL import Image

from iunet.artifacts import write_text
from iunet.errors import UserError
from iunet.labels import METRIC_LABELS, SCORES
from iunet.page.bundle import Bundle, Figure, bundle_from
from iunet.page.claims import claims_view
from iunet.page.decisions import read_decisions
from iunet.page.documents import (
    Document,
    agreement,
    cells,
    expected_to_agree,
    is_papers,
    judged_by_spread,
    missing_reason,
)
from iunet.page.findings import headline_findings
from iunet.page.view import CLASSES, table_view
from iunet.tables.ask import BEYOND, OWN, PAPER, SEARCHES
from iunet.tables.catalog import TABLES, table_module

GROUPS = {  # the groups of tables in the order of the page: heading and anchor
    PAPER: ("Tables of the paper", "paper-tables"),
    SEARCHES: ("Searches of appendix E.2", "searches"),
    BEYOND: ("Beyond the paper", "beyond"),
    OWN: ("Experiments of this config", "experiments"),
}
PDF_BYTES = 500_000  # of all figures together; the page has none of them if they are more


def write_page(
    bundle: dict[str, Any] | Bundle,
    output: str | os.PathLike,
    template_dir: str | os.PathLike = "reports/page",
) -> None:
    """Write the page to `output`; `iunet.page.bundle` describes the bundle."""
    write_text(output, render_page(bundle_from(bundle), Path(template_dir)))


def render_page(bundle: Bundle, template_dir: Path) -> str:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(template_dir),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["eight_digits"] = eight_digits
    environment.filters["place"] = place_of
    try:
        template = environment.get_template("template.html")
        style, script = (
            (template_dir / name).read_text(encoding="utf-8") for name in ("style.css", "script.js")
        )
    except (OSError, jinja2.TemplateNotFound) as error:
        raise UserError(f"The page's template in {template_dir} is incomplete: {error}.") from error
    documents = bundle.documents()
    return template.render(
        bundle=bundle,
        facts=bundle.facts,
        style=Markup(style),
        script=Markup(script),
        data=packed({document["id"]: lean(document) for document in documents}),
        anchors={
            "agreement",
            *(document["id"] for document in documents),
            *(figure.id for figure in bundle.figures),
        },
        claims=claims_view(bundle.claims) if bundle.claims else None,
        findings=headline_findings(bundle.tables),
        agreement=agreement_rows(bundle.tables),
        groups=grouped(bundle.tables),
        evidence=table_view(bundle.evidence) if bundle.evidence else None,
        figures=figure_views(bundle.figures),
        decisions=read_decisions(bundle.decisions, bundle.facts.config) if bundle.decisions else [],
        missing=missing_rows(documents, bundle),
        config_text=yaml.safe_dump(
            bundle.facts.config,
            sort_keys=False,
            allow_unicode=True,
            default_flow_style=None,  # short lists and mappings on one line
            width=100,
        ),
        switch=metric_choices(documents),
        jobs=job_totals(bundle.facts.jobs),
    )


def lean(document: Document) -> Document:
    """What the page's script makes a CSV of; a key without a value is left out of a cell."""
    kept = {key: document[key] for key in ("row_header", "rows", "columns", "metrics")}
    kept["cells"] = {
        row: {column: shortened(cell) for column, cell in of_row.items()}
        for row, of_row in document["cells"].items()
    }
    return kept


def shortened(content: Any) -> Any:
    """Without keys that have no value; numbers with eight digits, which no table shows."""
    if isinstance(content, dict):
        kept = {key: shortened(value) for key, value in content.items()}
        return {key: value for key, value in kept.items() if value is not None and value != []}
    return eight_digits(content) if isinstance(content, float) else content


def eight_digits(number: float) -> float:
    return float(f"{number:.8g}")


def packed(content: Any) -> str:
    """JSON, deflated and in base64: a sixth of its length, and nothing in it can end a script."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode("utf-8"), 9)).decode("ascii")


def place_of(table: str) -> str:
    """The id of a table's element: an experiment may have the name of a part of the page."""
    return table if table in TABLES else f"experiment-{table}"


def grouped(tables: list[Document]) -> list[dict[str, Any]]:
    """The tables under their headings; groups without a table are left out."""
    groups: dict[str, dict[str, Any]] = {
        name: {"title": title, "anchor": anchor, "tables": []}
        for name, (title, anchor) in GROUPS.items()
    }
    for document in tables:
        groups[table_module(document["id"]).GROUP]["tables"].append(table_view(document))
    return [group for group in groups.values() if group["tables"]]


def metric_choices(documents: list[Document]) -> list[tuple[str, str]]:
    """The metrics that the page's switch offers: scores of tables that have more than one."""
    found = {m for d in documents if len(d["metrics"]) > 1 for m in d["metrics"]}
    return [(metric, METRIC_LABELS[metric]) for metric in SCORES if metric in found]


def agreement_rows(tables: list[Document]) -> list[dict[str, Any]]:
    """Per table with paper values: counts by agreement, and their shares for a bar."""
    rows = []
    for document in filter(is_papers, tables):
        counts = agreement(document)
        if total := sum(counts.values()):
            named = {name: counts[kind] for kind, name in CLASSES.items()}
            shares = {name: round(100 * count / total, 3) for name, count in named.items()}
            row = {"document": document, "total": total, "counts": named, "shares": shares}
            judged = judged_by_spread(document)
            rows.append(row | {"expected": expected_to_agree(judged) if judged else None})
    return rows


def missing_rows(documents: list[Document], bundle: Bundle) -> list[dict[str, Any]]:
    """What is missing anywhere: reason, where, and how many cells."""
    rows: dict[tuple[str, str], int] = {}
    for document in documents:
        for _, _, cell in cells(document):
            if reason := missing_reason(cell):
                key = (reason, document["id"])
                rows[key] = rows.get(key, 0) + 1
    titles = {document["id"]: document["title"] for document in documents}
    found = [
        {"reason": reason, "anchor": place_of(name), "place": titles[name], "count": count}
        for (reason, name), count in rows.items()
    ]
    found += [
        {"reason": figure.missing, "anchor": figure.id, "place": figure.title, "count": None}
        for figure in bundle.figures
        if figure.png is None
    ]
    return sorted(found, key=lambda row: row["reason"])


def figure_views(figures: list[Figure]) -> list[dict[str, Any]]:
    pdfs = [figure.pdf for figure in figures if figure.pdf]
    with_pdfs = sum(Path(pdf).stat().st_size for pdf in pdfs) <= PDF_BYTES
    return [figure_view(figure, with_pdfs) for figure in figures]


def figure_view(figure: Figure, with_pdf: bool) -> dict[str, Any]:
    view = {"figure": figure, "image": "", "pdf": "", "width": 0, "height": 0}
    if figure.png:
        try:
            with Image.open(figure.png, formats=["PNG"]) as image:
                view["image"] = data_url("image/webp", lossless_webp(image))
                # The page keeps its place while it loads.
                view["width"], view["height"] = image.size
        except (OSError, SyntaxError) as error:
            raise UserError(
                f"The figure '{figure.id}' names {figure.png}, which is no PNG image."
            ) from error
    if figure.pdf and with_pdf:
        view["pdf"] = data_url("application/pdf", Path(figure.pdf).read_bytes())
    return view


def lossless_webp(image: Image.Image) -> bytes:
    """The same pixels in about a third of the bytes of matplotlib's PNG."""
    stream = io.BytesIO()
    image.save(stream, "WEBP", lossless=True)
    return stream.getvalue()


def data_url(kind: str, content: bytes) -> str:
    return f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"


def job_totals(jobs: dict[str, dict[str, float]]) -> dict[str, Any] | None:
    if not jobs:
        return None
    seconds = sum(stage["seconds"] for stage in jobs.values())
    return {
        "count": int(sum(stage["jobs"] for stage in jobs.values())),
        "time": duration(seconds),
        "stages": [(name, int(s["jobs"]), duration(s["seconds"])) for name, s in jobs.items()],
    }


def duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s"

"""The report page: tables, figures and facts of a run become one HTML file.

Everything is inside the file (style, script, figures, the tables' data), so it opens offline; a
content security policy forbids every request. The same content gives the same bytes.
"""

from __future__ import annotations

import base64
import io
import json
import shlex
import zlib
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jinja2
import yaml
from markupsafe import Markup
from PIL import Image

from iunet.artifacts import read_json, write_text
from iunet.errors import UserError
from iunet.labels import METRIC_LABELS, SCORES, duration
from iunet.page.decisions import beside_config, read_decisions
from iunet.page.facts import Facts, collect_facts, heading, notice
from iunet.tables import catalog
from iunet.tables.cells import NONE
from iunet.tables.claims import CPU_SCALE
from iunet.tables.document import NO, NOT_KNOWN, VALUE, YES
from iunet.tables.render import view
from iunet.tables.render.view import Document
from iunet.tables.verdicts import NOT_REPRODUCED, NOT_RUN, REPRODUCED, UNDECIDED

GROUPS = {  # the groups of tables in the order of the page: heading and anchor
    catalog.PAPER: ("Tables of the paper", "paper-tables"),
    catalog.SEARCHES: ("Searches of appendix E.2", "searches"),
    catalog.BEYOND: ("Beyond the paper", "beyond"),
    catalog.OWN: ("Experiments of this config", "experiments"),
}
OVERVIEW = "overview"  # the figure at the top of the page
AGREEMENT = {  # how a cell agrees with the paper: its class in the style, and its mark
    YES: ("yes", "✓"),
    NO: ("no", "✗"),
    NOT_KNOWN: ("na", "n/a"),
    view.MISSING: ("missing", ""),
}
STATISTICS = dict.fromkeys(("table8", "table9"), "Statistics of the data sets")
VERDICTS = {REPRODUCED: "yes", NOT_REPRODUCED: "no", UNDECIDED: "near", NOT_RUN: "na"}
PDF_BYTES = 500_000  # of all figures together; the page has none of them if they are more


Figure = dict[
    str, Any
]  # id, title, caption, missing (why it shows nothing), and the paths of its files


@dataclass
class Page:
    """What a page shows."""

    facts: Facts
    title: str = "IUNET, regenerated"
    lead: str = ""
    notice: list[str] = field(default_factory=list)  # on top: how the run is not the paper's
    documents: list[Document] = field(default_factory=list)  # the tables, in the order of the page
    figures: list[Figure] = field(default_factory=list)
    decisions: list[dict[str, Any]] = field(default_factory=list)
    unavailable: dict[str, str] = field(default_factory=dict)  # data set → reason

    def tables(self, group: str) -> list[Document]:
        """The tables of a group that have something to show."""
        return [
            d for d in self.documents if catalog.table_entry(d["id"]).group == group and has_run(d)
        ]


def make_page(
    tables: list[str],
    figures: list[Figure],
    evaluations: list[str],
    run: dict[str, Any],
    project: Path,
    output: str,
) -> None:
    """The page stage: from the files of a run to the page.

    `run` has the config, its name, the data sets that are not available, and the folder of
    Snakemake's benchmarks.
    """
    config, reports = run["config"], project / "reports"
    title, lead = heading(config)
    page = Page(
        title=title,
        lead=lead,
        facts=collect_facts(run, project, [*tables, *evaluations], map(read_json, evaluations)),
        notice=notice(config),
        documents=list(map(read_json, tables)),
        figures=[captioned(figure, reports, config["experiments"]) for figure in figures],
        decisions=[] if config["own"] else read_decisions(reports / "decisions.yaml"),
        unavailable=run["unavailable"],
    )
    write_text(output, render_page(page, reports / "page"))


def captioned(figure: Figure, reports: Path, experiments: dict[str, Any]) -> Figure:
    """A figure with its text of reports/captions/; kinds of figures share one."""
    name = kind = figure["id"]
    if name.startswith("tuning-"):
        kind = "tuning_history"
    elif name in experiments:
        kind, name = "scores", f"{name}-scores"  # its table has the experiment's own name
    text = (reports / "captions" / f"{kind}.txt").read_text(encoding="utf-8")
    missing = read_json(figure["report"])["missing"]
    return figure | {"id": name, "caption": text.strip(), "missing": missing}


def render_page(page: Page, template_dir: Path) -> str:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(template_dir),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    used = (eight_digits, table_anchor, duration, view.table_view, view.missing_by_reason)
    used += (view.agreement, view.expected_agreement)
    environment.filters |= {function.__name__: function for function in used}
    environment.globals["AGREEMENT"] = AGREEMENT
    style, script = (
        Markup((template_dir / name).read_text(encoding="utf-8"))
        for name in ("style.css", "script.js")
    )
    config, documents = page.facts["config"], page.documents
    groups = GROUPS | ({catalog.BEYOND: ("Details", "details")} if config["own"] else {})
    figures = figure_views(page.figures)
    anchors = {d["id"]: table_anchor(d["id"]) for d in documents if has_run(d)}
    return environment.get_template("template.html").render(
        page=page,
        facts=page.facts,
        style=style,
        script=script,
        data=packed({document["id"]: lean(document) for document in documents}),
        answer=next(iter(page.tables(catalog.ANSWER)), None),
        commands=own_commands(config),
        overview=next((figure for figure in figures if figure["id"] == OVERVIEW), None),
        figures=[figure for figure in figures if figure["id"] != OVERVIEW],
        anchors=anchors | {figure["id"]: figure["id"] for figure in figures},
        claims=next(iter(map(claims_view, page.tables(catalog.CLAIMS))), None),
        evidence=next(iter(page.tables(catalog.EVIDENCE)), None),
        agreement=agreement_groups(documents),
        groups=[
            {"title": title, "anchor": anchor, "tables": page.tables(group)}
            for group, (title, anchor) in groups.items()
            if page.tables(group)
        ],
        decisions=beside_config(page.decisions, config),
        missing=missing_rows(page),
        # Short lists and mappings on one line.
        config_text=yaml.safe_dump(
            config, sort_keys=False, allow_unicode=True, default_flow_style=None, width=100
        ),
        switch=metric_choices(documents),
    )


def own_commands(config: dict[str, Any]) -> list[str]:
    """The commands that train IUNET on all rows of the user's own table, and use it."""
    if not config.get("target"):
        return []
    options = ["--target", config["target"]]
    if config["categorical"]:
        options += ["--categorical", *config["categorical"]]
    return [
        shlex.join(["iunet", "fit", config["own"], *options, "--out", "model"]),
        "iunet predict model new.csv --out predictions.csv",
    ]


# ---- tables


SHOWN = ("verdict", "beyond", "effect", "datasets", "seeds", "remarks")  # else behind a click


def claims_view(document: Document) -> dict[str, Any]:
    """The lines of the claims' table as texts, and how many have each verdict."""
    lines = []
    for claim in document["data"]["claims"]:
        cells = document["cells"][claim["key"]].items()
        texts = {key: cell["values"][VALUE]["text"] for key, cell in cells}
        scale = CPU_SCALE if CPU_SCALE in claim["remarks"] else ""
        remark, *others = [text for text in claim["remarks"] if text != scale] or [""]
        more = [(c["label"], texts[c["key"]]) for c in document["columns"] if c["key"] not in SHOWN]
        more.append(("Data sets, seeds", f"{claim['datasets']}, {claim['seeds']}"))
        more += [("Remarks", "; ".join(others))] * bool(others)
        classes = {
            "class": VERDICTS[claim["verdict"]],
            "beyond_class": claim["beyond"] and VERDICTS[claim["beyond"]],
        }
        line = claim | classes | {"texts": texts, "scale": scale, "remark": remark}
        lines.append(line | {"more": [(label, text) for label, text in more if text != NONE]})
    counts = Counter(line["verdict"] for line in lines)
    return {
        "document": document,
        "counts": [(verdict, name, counts[verdict]) for verdict, name in VERDICTS.items()],
        "lines": lines,
    }


def table_anchor(table: str) -> str:
    """The id of a table's element: an experiment may have the name of a part of the page."""
    return f"experiment-{table}" if catalog.table_entry(table).group == catalog.OWN else table


def has_run(document: Document) -> bool:
    """Whether any cell of a table has something to show."""
    return any(not view.missing_reason(cell) for _, _, cell in view.cells(document))


def metric_choices(documents: list[Document]) -> list[tuple[str, str]]:
    """The metrics that the page's switch offers: scores of tables that have more than one."""
    found = {m for d in documents if len(d["metrics"]) > 1 for m in d["metrics"]}
    return [(metric, METRIC_LABELS[metric]) for metric in SCORES if metric in found]


def agreement_groups(tables: list[Document]) -> list[dict[str, Any]]:
    """The paper's own tables beside ours: scores, and statistics of data sets apart.

    For each a line for every table, and their sum.
    """
    groups: dict[str, list[dict[str, Any]]] = {}
    for document in tables:
        counts = view.agreement(document)
        if counts and catalog.table_entry(document["id"]).group == catalog.PAPER:
            line = {"title": document["title"].split(":")[0], "id": document["id"]}
            line |= {"counts": counts, "expected": view.expected_agreement(document)}
            groups.setdefault(STATISTICS.get(document["id"], "Scores"), []).append(line)
    found = []
    for title, lines in groups.items():
        expected = [line["expected"] for line in lines if line["expected"] is not None]
        counts = sum((line["counts"] for line in lines), Counter())
        whole = {"title": title, "counts": counts, "expected": sum(expected) if expected else None}
        found.append(whole | {"lines": lines})
    return found


def missing_rows(page: Page) -> list[dict[str, Any]]:
    """What is missing: the reason, the table or figure, and how many cells of a table that ran."""
    gone = [figure for figure in page.figures if figure["missing"]]
    found = [{"reason": f["missing"], "place": f["title"], "anchor": None} for f in gone]
    for document in page.documents:
        counts = Counter(view.missing_reason(cell) for _, _, cell in view.cells(document))
        if not document["rows"]:  # of no data set; its caption says why
            counts[document["caption"]] = 0
        anchor = table_anchor(document["id"]) if has_run(document) else None
        place = {"place": document["title"], "anchor": anchor}
        found += [{"reason": r, "count": n} | place for r, n in counts.items() if r]
    return sorted(found, key=lambda row: row["reason"])


# ---- data for downloads


def lean(document: Document) -> Document:
    """What the page's script makes a CSV of; a key without a value is left out of a cell."""
    kept = ("row_header", "rows", "columns", "metrics", "cells")
    return {key: shortened(document[key]) for key in kept}


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


# ---- figures


def figure_views(figures: list[Figure]) -> list[Figure]:
    """The figures that show something, with their files inside."""
    drawn = [figure for figure in figures if not figure["missing"]]
    with_pdfs = sum(Path(figure["pdf"]).stat().st_size for figure in drawn) <= PDF_BYTES
    views = []
    for figure in drawn:
        image, (width, height) = lossless_webp(figure["png"])
        pdf = data_url("application/pdf", Path(figure["pdf"]).read_bytes()) if with_pdfs else ""
        # With its size, the page keeps its place while it loads.
        size = {"width": width, "height": height}
        views.append(figure | size | {"image": data_url("image/webp", image), "pdf": pdf})
    return views


def lossless_webp(png: str | Path) -> tuple[bytes, tuple[int, int]]:
    """The same pixels in about a third of the bytes of matplotlib's PNG; width and height."""
    stream = io.BytesIO()
    try:
        with Image.open(png, formats=["PNG"]) as image:
            image.save(stream, "WEBP", lossless=True)
            return stream.getvalue(), image.size
    except (OSError, SyntaxError) as error:
        raise UserError(
            f"{png} is not a PNG image. Delete it and run the same command again."
        ) from error


def data_url(kind: str, content: bytes) -> str:
    return f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"

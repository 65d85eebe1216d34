"""A page for tests: the published study's tables, with gaps of every kind."""

from __future__ import annotations

import base64
import json
import re
import zlib
from pathlib import Path
from typing import Any

import yaml
from PIL import Image

from iunet.artifacts import read_json
from iunet.page.build import Page
from iunet.page.decisions import read_decisions

ROOT = Path(__file__).resolve().parents[2]
PUBLISHED = ROOT / "reports" / "cpu-study" / "tables"
SHOWN = ("claims", *(f"table{number}" for number in range(1, 10)), "controls", "metric_problem")
GONE = {("jasmine", None): "not in the mirror", ("anneal", "xgb"): "not finished"}


def page_data(page: str) -> dict[str, Any]:
    """The documents that a page has inside, as its script unpacks them."""
    (data,) = re.findall(r'<script type="application/zlib\+base64" id="data">(.*?)</script>', page)
    return json.loads(zlib.decompress(base64.b64decode(data, validate=True)))


def complete(table: dict[str, Any]) -> dict[str, Any]:
    """The table with every key that a document of the workflow has."""
    cell = {"values": {}, "paper": None, "difference": None, "agrees": None, "missing": None}
    for row in table["rows"]:
        row.setdefault("notes", [])
        cells = table["cells"].setdefault(row["key"], {})
        for column in table["columns"]:
            column |= {"paper_metric": None, "repeats": False} | column
            found = cells.setdefault(column["key"], {"missing": "not finished"})
            cells[column["key"]] = cell | {"notes": []} | found
            if paper := found.get("paper"):
                paper.setdefault("std", None)
    return table


def document(name: str, title: str, **content: Any) -> dict[str, Any]:
    return {
        "id": name,
        "title": title,
        "caption": "Mean ± standard deviation over 3 seeds, test split.",
        "row_header": ["Dataset"],
        "rows": [],
        "columns": [],
        "metrics": ["accuracy"],
        "default_metric": "accuracy",
        "cells": {},
        "decimals": 3,
        "notes": [],
        "lower_is_better": [],
        "metric_labels": {},
    } | content


def text_table(name: str, title: str, row_header: str, columns: list[str], rows: dict):
    """A table of our own: numbers and text, no paper."""
    table = document(name, title, row_header=[row_header], metrics=["value"], caption="")
    table |= {"default_metric": "value", "decimals": 2}
    table["columns"] = [{"key": f"c{i}", "label": label} for i, label in enumerate(columns)]
    for key, entries in rows.items():
        table["rows"].append({"key": key, "labels": [key], "notes": []})
        for index, entry in enumerate(entries):
            value = {"text": entry} if isinstance(entry, str) else {"mean": entry}
            cell = {"values": {"value": value}, "paper": None, "missing": None}
            if entry is None:
                cell = {"values": {}, "paper": None, "missing": "not finished"}
            table["cells"].setdefault(key, {})[f"c{index}"] = cell
    return complete(table)


def all_tables() -> list[dict[str, Any]]:
    """Those of the study, of which a row and a cell of table 7 are missing, and one of texts."""
    tables = {name: read_json(PUBLISHED / f"{name}.json") for name in SHOWN}
    for (row, column), reason in GONE.items():
        for key, cell in tables["table7"]["cells"][row].items():
            if column in (key, None):
                cell |= {"values": {}, "difference": None, "agrees": None, "missing": reason}
    tables["table7"]["cells"]["vehicle"]["omp"]["notes"] = ["disconnected (2 of 3 seeds)"]
    latencies = {"MLP_VIS": "41.25 ms", "IUNET": "9.3 ms", "RESNET": "9.15 ms", "CNN": None}
    rows = {name: [latency] for name, latency in latencies.items()}
    return [*tables.values(), text_table("efficiency", "Efficiency", "Network", ["Latency"], rows)]


def some_facts(**content: Any) -> dict[str, Any]:
    """Facts of a run of which nothing but these is known."""
    empty = {key: {} for key in ("budgets", "machine", "versions", "jobs")}
    unknown = dict.fromkeys(("commit", "dirty", "newest_artifact"))
    return {
        "config_name": "config/test.yaml",
        "config": {"seeds": [0], "own": None, "target": None},
        **empty,
        **unknown,
    } | content


def figure(name: str, title: str, png: str = "", pdf: str = "", missing: str | None = None) -> dict:
    files = {"png": png, "pdf": pdf}
    return {"id": name, "title": title, "caption": "A caption.", "missing": missing} | files


def sample_page(folder: Path) -> Page:
    config = yaml.safe_load((ROOT / "config" / "config.yaml").read_text(encoding="utf-8"))
    config["train"]["supernet"]["epochs"] = 5  # one decision changed
    png, pdf = folder / "figure.png", folder / "figure.pdf"
    Image.new("RGB", (1440, 480), "white").save(png)
    pdf.write_bytes(b"%PDF-1.4")
    figures = [
        figure(name, f"Figure {name}", str(png), str(pdf)) for name in ("overview", "figure2")
    ]
    return Page(
        notice=["This run is not at the paper's scale.", "A sample for tests."],
        facts=some_facts(
            config_name="config/config.yaml",
            config=config,
            budgets={"xgb": "40 trials per hyperparameter"},
            machine={"device": "x86_64", "threads": "1"},
            versions={"python": "3.11.2", "torch": "2.13.0"},
            commit="86c0c35d1f2a4b5c6d7e8f90123456789abcdef0",
            dirty=True,
            newest_artifact="2026-01-02 03:04 UTC",
            jobs={"supernet": {"jobs": 54, "seconds": 5012.3}},
        ),
        documents=all_tables(),
        figures=figures,
        decisions=read_decisions(ROOT / "reports" / "decisions.yaml"),
        unavailable={"nomao": "not in the mirror"},
    )

"""The first section of the page: the paper's claims with their verdicts."""

from __future__ import annotations

from collections import Counter
from typing import Any

from iunet.page.documents import Document
from iunet.tables.claims import CPU_SCALE, effect_text, interval_text, smallest_text
from iunet.tables.effects import NOT_REPRODUCED, NOT_RUN, REPRODUCED, UNDECIDED

CLASSES = {REPRODUCED: "yes", NOT_REPRODUCED: "no", UNDECIDED: "near", NOT_RUN: "na"}


def claims_view(document: Document) -> dict[str, Any]:
    """The lines of the ledger as texts, and how many have each verdict."""
    lines = (document.get("data") or {}).get("claims", [])
    counts = Counter(line["verdict"] for line in lines)
    return {
        "document": document,
        "counts": [(verdict, CLASSES[verdict], counts[verdict]) for verdict in CLASSES],
        "lines": [_line(line) for line in lines],
    }


def _line(line: dict[str, Any]) -> dict[str, Any]:
    return {
        "text": line["claim"],
        "where": line["where"],
        "measure": line["measure"],
        "effect": effect_text(line),
        "interval": interval_text(line),
        "smallest": smallest_text(line),
        "sets": f"{line['datasets']} × {line['seeds']}" if line["datasets"] else "–",
        "verdict": line["verdict"],
        "class": CLASSES[line["verdict"]],
        "cpu_scale": CPU_SCALE if CPU_SCALE in line["remarks"] else "",
        "remarks": "; ".join(r for r in line["remarks"] if r != CPU_SCALE),
        "table": line["table"],
    }

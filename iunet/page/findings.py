"""Headline findings, computed from the table documents; each says when its data are missing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean

from iunet.labels import METHOD_LABELS
from iunet.networks.catalog import NETWORKS  # as a column of its own: the dense network
from iunet.page.documents import (
    NO,
    NOT_KNOWN,
    OFF_BY_ONE,
    YES,
    Document,
    agreement,
    cells,
    default_metric,
    expected_to_agree,
    is_papers,
    judged_by_spread,
    mean_of,
)

# Longest first: 'iunet_no_ilo' is not 'iunet'.
METHODS = sorted([*METHOD_LABELS, "supernet"], key=len, reverse=True)
UNKNOWN = "—"


@dataclass
class Finding:
    """A number to look at, the sentence that says what it is, and the table it comes from."""

    value: str
    text: str
    table: str | None = None


def headline_findings(tables: Iterable[Document]) -> list[Finding]:
    documents = {document["id"]: document for document in tables}
    return [
        vision_order(documents.get("table1")),
        best_tabular(documents.get("table2")),
        consistency_change(documents.get("table3"), documents.get("table5")),
        ablation(documents.get("table4")),
        paper_agreement(documents.values()),
    ]


# ---------------------------------------------------------------- sentences


def vision_order(table: Document | None) -> Finding:
    """On how many cases IUNET > OMP > dense, and by how much."""
    cases = [case for case in by_method(table).values() if {"iunet", "omp", "dense"} <= case.keys()]
    if not cases:
        return Finding(
            UNKNOWN,
            "Whether IUNET beats OMP and OMP the dense network is not known yet: table 1 has no "
            "data set with all three.",
            "table1",
        )
    ordered = sum(case["iunet"] > case["omp"] > case["dense"] for case in cases)
    over_omp = fmean(case["iunet"] - case["omp"] for case in cases)
    over_dense = fmean(case["iunet"] - case["dense"] for case in cases)
    return Finding(
        f"{ordered} of {len(cases)}",
        f"vision cases (network × data set) keep the paper's order IUNET > OMP > dense. On average "
        f"IUNET is {signed(over_omp)} points from OMP and {signed(over_dense)} from the dense "
        "network.",
        "table1",
    )


def best_tabular(table: Document | None) -> Finding:
    """The method with the lowest average rank, IUNET's rank, and the paper's best."""
    ranks, published, labels = {}, {}, {}
    for row, column, cell in cells(table) if table else ():
        keys = (row["key"], column["key"])
        if not any("rank" in key for key in keys):
            continue
        # The whole key: `iunet_glorot` is not IUNET.
        method = keys[1] if "rank" in keys[0] else keys[0]
        labels[method] = column["label"] if "rank" in keys[0] else " ".join(row["labels"])
        if (mean := mean_of(cell, default_metric(table))) is not None:
            ranks[method] = mean
        if paper := cell.get("paper"):
            published[method] = paper["mean"]
    if not ranks:
        return Finding(
            UNKNOWN, "The best tabular method is not known yet: table 2 has no ranks.", "table2"
        )
    best = min(ranks.values())
    winners = [labels[method] for method, rank in ranks.items() if rank == best]
    text = f"{'has' if len(winners) == 1 else 'share'} the best average rank on the tabular data "
    text += f"sets: {best:.3f} among {len(ranks)} methods."
    if "iunet" in ranks and ranks["iunet"] != best:
        text += f" IUNET's is {ranks['iunet']:.3f}."
    if published:
        first = min(published, key=published.get)
        text += f" In the paper it is {labels[first]} with {published[first]:.3f}."
    return Finding(" and ".join(winners), text, "table2")


def consistency_change(*tables: Document | None) -> Finding:
    """Untrained networks: how much pruning alone changes the consistency under transforms."""
    changes: dict[str, float] = {}
    for table in filter(None, tables):
        for (place, rest), case in by_method(table).items():
            # What is left of a column's key marks another quantity: the number of labels.
            if not rest and {"supernet", "iunet"} <= case.keys():
                changes[place] = case["iunet"] - case["supernet"]
    if not changes:
        return Finding(
            UNKNOWN,
            "The change of consistency by pruning is not known yet: tables 3 and 5 have no pair of "
            "supernet and subnetwork.",
            "table5",
        )
    higher = sum(change > 0 for change in changes.values())
    return Finding(
        signed(fmean(changes.values())),
        "points: the mean change of consistency from the untrained supernet to IUNET's untrained "
        f"subnetwork. It rises in {higher} of {len(changes)} pairs of data set and transform. A "
        "constant predictor scores 100 %, so read it beside the number of predicted labels.",
        "table5" if len(tables) > 1 and tables[1] else "table3",
    )


def ablation(table: Document | None) -> Finding:
    """What removing each part of IUNET costs on average."""
    parts = {"iunet_no_prune": "pruning", "iunet_no_ilo": "ILO", "iunet_no_pis": "PIS"}
    losses = {}
    cases = by_method(table).values()
    for method, part in parts.items():
        pairs = [
            (case[method], case["iunet"]) for case in cases if {method, "iunet"} <= case.keys()
        ]
        if pairs:
            losses[part] = (fmean(without - full for without, full in pairs), len(pairs))
    if not losses:
        return Finding(
            UNKNOWN, "What each part of IUNET adds is not known yet: table 4 is empty.", "table4"
        )
    worst = min(losses, key=lambda part: losses[part][0])
    changes = [
        f"without {part} {signed(change)} (on {count} data set{'s' if count > 1 else ''})"
        for part, (change, count) in losses.items()
    ]
    change = losses[worst][0]
    text = "points on average " + ("are lost" if change < 0 else "change") + f" without {worst}, "
    text += f"the part that IUNET needs most: {'; '.join(changes)}."
    return Finding(signed(change), text, "table4")


def paper_agreement(tables: Iterable[Document]) -> Finding:
    """Cells that agree with the paper, over tables 1 to 9."""
    totals = {YES: 0, OFF_BY_ONE: 0, NO: 0, NOT_KNOWN: 0, "missing": 0}
    judged: Counter = Counter()
    for table in filter(is_papers, tables):
        judged += judged_by_spread(table)
        for kind, count in agreement(table).items():
            totals[kind] = totals.get(kind, 0) + count
    compared = totals[YES] + totals[OFF_BY_ONE] + totals[NO]
    rest = f"{totals[NOT_KNOWN]} have no standard deviation to decide with, and "
    rest += f"{totals['missing']} of the paper's cells are missing here."
    if not compared:
        return Finding(UNKNOWN, f"No cell can be compared with the paper: {rest}", "agreement")
    chance = (
        f"Of the {judged.total()} judged by their spread, {judged[YES]} agree; "
        f"{expected_to_agree(judged):.1f} would if all were equal. "
        if judged
        else ""
    )
    by_one = f" ({totals[OFF_BY_ONE]} more differ by one row)" if totals[OFF_BY_ONE] else ""
    return Finding(
        f"{totals[YES]} of {compared}",
        f"comparable cells agree with the paper{by_one}; {totals[NO]} do not. {chance}{rest}",
        "agreement",
    )


# ---------------------------------------------------------------- helpers


def by_method(table: Document | None) -> dict[tuple, dict[str, float]]:
    """Means in the default metric: {what is held fixed: {method: mean}}.

    Methods are found in the keys of the columns or of the rows, whichever way the table lies.
    """
    found: dict[tuple, dict[str, float]] = {}
    for row, column, cell in cells(table) if table else ():
        mean = mean_of(cell, default_metric(table))
        (method, rest), other = method_of(column["key"]), row["key"]
        if method is None:
            (method, rest), other = method_of(row["key"]), column["key"]
        if method is not None and mean is not None:
            found.setdefault((other, rest), {})[method] = mean
    return found


def method_of(key: str) -> tuple[str | None, str]:
    """The method that a key names, and what is left of the key."""
    for method in METHODS:
        if re.search(rf"(?<![a-z0-9]){method}(?![a-z0-9])", key):
            rest = re.sub(rf"[/._ -]*(?<![a-z0-9]){method}(?![a-z0-9])[/._ -]*", "", key, count=1)
            return method, rest
    return ("dense", "") if key in NETWORKS else (None, key)


def signed(number: float) -> str:
    """+1.23 or −1.23, with a real minus sign."""
    return f"{number:+.2f}".replace("-", "−")

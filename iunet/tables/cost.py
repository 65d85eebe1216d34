"""What each method cost to train and to tune, from the times in the runs' reports."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from iunet.artifacts import read_json
from iunet.errors import UserError
from iunet.labels import method_label, method_order, network_label
from iunet.runs.entries import Benchmark
from iunet.runs.requests import cost_requests
from iunet.tables.ask import BEYOND, Ask
from iunet.tables.cells import in_order, select
from iunet.tables.document import VALUE, Cell, Column, Row, TableDocument, Value
from iunet.tables.names import stand_in_text
from iunet.tables.reports import REDO
from iunet.tables.scores import About

if TYPE_CHECKING:
    import pandas as pd

TITLE = "Cost of the methods"
GROUP = BEYOND
COLUMNS = {
    "datasets": "Data sets",
    "runs": "Runs",
    "seconds_per_run": "Training per run (s)",
    "trials_per_dataset": "Trials per data set",
    "tuning_per_dataset": "Tuning per data set (s)",
    "total": "Total (s)",
}


def asks(bench: Benchmark) -> Ask:
    return Ask(bench.all_cells, cost_requests(bench))


def build(ask: Ask, about: About) -> TableDocument:
    return cost(read_costs(ask.requests), about)


def read_costs(requests: list[dict[str, Any]]) -> pd.DataFrame:
    """One row per request: the seconds that its reports took together, and the trials.

    A request is {"dataset", "network", "method", "seed" (None for a tuning study), "reports":
    paths of supernet.json, finetune.json, refit.json or study.json, "missing": reason or None}. A
    method that tries several supernets or cuts names the reports of them all.
    """
    import pandas as pd

    rows = []
    for request in requests:
        row = {key: request[key] for key in ("dataset", "network", "method", "seed")}
        row |= {"seconds": None, "trials": None, "missing": request.get("missing")}
        if not row["missing"]:
            found = [_read(path) for path in request["reports"]]
            row["seconds"] = sum(seconds for seconds, _ in found)
            row["trials"] = sum(trials for _, trials in found)
        rows.append(row)
    columns = ["dataset", "network", "method", "seed", "seconds", "trials", "missing"]
    frame = pd.DataFrame(rows, columns=columns)
    return frame.assign(
        seconds=pd.to_numeric(frame["seconds"]), trials=pd.to_numeric(frame["trials"])
    )


def _read(path: str) -> tuple[float, int]:
    report = read_json(path)
    times = report.get("times") if isinstance(report, dict) else None
    seconds = times.get("total_s") if isinstance(times, dict) else None
    if not isinstance(seconds, int | float) or not math.isfinite(seconds) or seconds < 0:
        raise UserError(f"{path} has no time: 'times.total_s' is {seconds!r}. {REDO}")
    counts = report.get("counts") or {}
    trials = counts.values() if isinstance(counts, dict) else [counts]
    return float(seconds), sum(trials)


def cost(frame: pd.DataFrame, about: About | None = None) -> TableDocument:
    """Seconds and trials by network and method; a row of the frame is a run, or a tuning study."""
    about = about or About()
    rows, cells = [], {}
    methods = method_order(frame["method"])
    pairs = set(zip(frame["network"], frame["method"], strict=True))
    for network, method in sorted(pairs, key=lambda pair: (pair[0], methods.index(pair[1]))):
        key = f"{network}/{method}"
        rows.append(Row(key, [network_label(network), method_label(method)]))
        cells[key] = _cells(select(frame, network=network, method=method))
    return TableDocument(
        id="cost",
        title=TITLE,
        caption="Wall-clock seconds by method, on the machine that ran them, with all candidates "
        "that a method chose among; a supernet that several methods share counts for each of them."
        + stand_in_text(about.stand_ins),
        row_header=["Network", "Method"],
        rows=rows,
        columns=[Column(key, label) for key, label in COLUMNS.items()],
        metrics=[VALUE],
        default_metric=VALUE,
        cells=cells,
        decimals=1,
        notes=list(about.notes or []),
        best_along="none",
    )


def _cells(part: pd.DataFrame) -> dict[str, Cell]:
    done = part[part["missing"].isna()]
    if done.empty:
        reason = "; ".join(in_order(part["missing"]))
        return {column: Cell(missing=reason) for column in COLUMNS}
    runs, studies = done[done["seed"].notna()], done[done["seed"].isna()]
    numbers = {
        "datasets": float(done["dataset"].nunique()),
        "runs": float(len(runs)),
        "seconds_per_run": runs["seconds"].mean() if len(runs) else None,
        "trials_per_dataset": studies["trials"].mean() if len(studies) else 0.0,
        "tuning_per_dataset": studies["seconds"].mean() if len(studies) else 0.0,
        "total": done["seconds"].sum(),
    }
    cells = {}
    for column, number in numbers.items():
        if number is None:
            cells[column] = Cell(missing="not finished")
            continue
        whole = column in ("datasets", "runs", "trials_per_dataset") and float(number).is_integer()
        text = f"{number:,.0f}" if whole else None
        cells[column] = Cell(values={VALUE: Value(float(number), text=text)})
    gone = part["missing"].dropna()
    if len(gone):
        reasons = "; ".join(in_order(gone))
        cells["total"].notes.append(f"{len(gone)} of {len(part)} parts are missing: {reasons}")
    return cells

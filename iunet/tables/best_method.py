"""The methods on the user's own data, the best first: score, size, speed and cost of each."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from iunet.artifacts import read_json
from iunet.labels import duration, run_names
from iunet.results.collect import Results
from iunet.results.request import Request
from iunet.results.selection import costs, of_results
from iunet.runs import paths
from iunet.runs.entries import Benchmark
from iunet.tables.cells import cell_of, plain_table, select
from iunet.tables.document import VALUE, TableDocument
from iunet.tables.efficiency import NOT_MEASURED, latency_files

if TYPE_CHECKING:
    import pandas as pd

ENTRIES = ("tables.table7", "tables.table1", "tables.table6")  # the first is of tables
COLUMNS = {
    "score": "{metric} (%)",
    "interval": "95 % interval",
    "training": "Training",
    "tuning": "Tuning",
    "size": "Size",
    "speed": "One sample",
    "accuracy": "Accuracy (%)",  # of tables, beside the balanced one
}
NOTES = [
    "The 95 % interval says how well this many test rows know the score (Wilson; all classes taken "
    "as equally hard). All methods have the same test rows, which know the difference between two "
    "methods better. The first method was picked by these scores: expect a little less on new "
    "data.",
    "Size: four bytes for every weight that is kept, in all members of an ensemble; for XGB, its "
    "file. One sample: the time of a prediction by one network on one CPU thread. Training: of one "
    "model, with all candidates that it was chosen from.",
]
Z = 1.959964  # the 97.5 % quantile of a normal distribution


def request(bench: Benchmark) -> Request:
    """Also the split, the latencies of pruned networks, and the reports of tuned learners."""
    cells = list(dict.fromkeys(cell for key in ENTRIES for cell in bench.cells_of(key)))
    files = [bench.path(paths.SPLIT_REPORT, dataset=cell.dataset) for cell in cells[:1]]
    for cell in cells:
        if cell.method.tuned:
            place = {"dataset": cell.dataset, "learner": cell.method.network}
            files.append(bench.path(paths.TUNED_REPORT, **place, seed=bench.seeds[0]))
    files = [path for path in files if bench.exists(path)]
    return Request(cells, times=cells, artifacts=[*files, *latency_files(bench, cells)])


def build(results: Results) -> TableDocument:
    """A row for each network and method; `data` has what the page says of the best and of IUNET."""
    split, *reports = [read_json(path) | {"path": path} for path in results.artifacts]
    counts = [entry["test"] for entry in split["classes"] if entry["test"]]
    balanced = split["kind"] == "tabular"
    rows = effective_rows(counts) if balanced else sum(counts)
    spent = costs(results.runs)
    lines, found = {}, []
    runs = of_results(results.runs)
    runs["label"] = run_names(runs)
    for (network, method, label), part in runs.groupby(["network", "method", "label"]):
        score = cell_of(part, {VALUE: "test_primary"})
        if score.missing:
            lines[f"{network}/{method}"] = ([label], score.missing)
            continue
        mean = score.values[VALUE].mean
        low, high = wilson(mean / 100, rows)
        interval = {"low": 100 * low, "high": 100 * high}
        report = next((r for r in reports if "sizes" in r and r["method"] == method), None)
        facts = {"method": method, "label": label, "score": mean, **interval}
        found.append(facts | {"folder": report and str(Path(report["path"]).parent)})
        lines[f"{network}/{method}"] = (
            [label],
            {
                "score": score,
                "interval": "{low:.1f} to {high:.1f}".format(**interval),
                "accuracy": cell_of(part, {VALUE: "test_accuracy"}),
                "size": _size(part.iloc[0], report),
                "speed": _speed(part.iloc[0], reports),
                **_costs(select(spent, network=network, method=method)),
            },
        )
    found.sort(key=lambda each: -each["score"])
    metric = "Balanced accuracy" if balanced else "Accuracy"
    shown = [column for column in COLUMNS if balanced or column != "accuracy"]
    document = plain_table(
        f"{metric} on {sum(counts):,} test rows: mean ± standard deviation over seeds.",
        ["Method"],
        {column: COLUMNS[column].format(metric=metric) for column in shown},
        dict(sorted(lines.items(), key=lambda line: -_score(line[1][1]))),
        NOTES,
        best_among=[["score"]],
        best_along="column",
        decimals=1,
    )
    document.data = {"methods": found, "metric": metric.lower(), "test_rows": sum(counts)}
    return document


def _score(content: Any) -> float:
    return -1.0 if isinstance(content, str) else content["score"].values[VALUE].mean


def _size(run: pd.Series, tuned: dict[str, Any] | None) -> str:
    """Tuned learners count in their own way."""
    sizes = tuned["sizes"] if tuned else {"bytes": 4 * run["ensemble_kept_parameters"]}
    found = sizes.get("bytes") or 4 * sizes["parameters"] * sizes["members"]
    return f"{found / 1e6:,.1f} MB" if found >= 1e6 else f"{found / 1e3:,.1f} kB"


def _speed(run: pd.Series, reports: list[dict[str, Any]]) -> str:
    """Every pruned network was measured beside the dense one."""
    form = "dense" if run["stage"] == "dense" else "pruned"
    key = f"latency_1_{form}_ms"
    for report in reports:
        network = key in report and report["network"] == run["network"]
        if network and (form == "dense" or report["method"] == run["method"]):
            return f"{report[key]:.2f} ms"
    return NOT_MEASURED


def _costs(spent: pd.DataFrame) -> dict[str, str]:
    """Seconds of a model, and of the study that all seeds share."""
    models, studies = spent[spent["seed"].notna()], spent[spent["seed"].isna()]
    trained = models["seconds"].mean()
    tuned = f"{duration(studies['seconds'].sum())}, {studies['trials'].sum():.0f} trials"
    return {
        "training": duration(trained) if trained == trained else NOT_MEASURED,
        "tuning": tuned if len(studies) else "none",
    }


def effective_rows(counts: list[int]) -> float:
    """As many rows of equal classes know a balanced accuracy as well as these rows of each."""
    return len(counts) ** 2 / sum(1 / count for count in counts)


def wilson(share: float, rows: float) -> tuple[float, float]:
    """Wilson's 95 % interval of a share that was measured on so many rows."""
    middle = (share + Z**2 / (2 * rows)) / (1 + Z**2 / rows)
    half = Z / (1 + Z**2 / rows) * (share * (1 - share) / rows + Z**2 / (4 * rows**2)) ** 0.5
    return max(0.0, middle - half), min(1.0, middle + half)

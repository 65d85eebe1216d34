"""The made parts of a study's documents, as Markdown: claims, answers, what lies beside table 7."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from statistics import fmean, stdev
from string import ascii_lowercase
from typing import Any

from iunet.labels import METRIC_LABELS, SCORES, method_label
from iunet.runs.settings import network_kind
from iunet.study.answers import (
    NAMES,
    NOT_ASKED,
    NOT_RUN,
    QUESTIONS,
    SMALLEST,
    answers,
    nearer_metric,
    sample,
    tuned_beside_paper,
)
from iunet.tables.claims import CPU_SCALE
from iunet.tables.effects import Effect
from iunet.tables.measures import PAPER_TRIALS

Row = dict[str, Any]
AT_CPU_SCALE = "CPU scale"
COMMON = 3  # claims with the same remark
FAR = 3.0  # points between a value of the paper and every metric of ours


def claims_text(lines: list[dict[str, Any]]) -> str:
    """The ledger; remarks that stand beside many claims are written once, below it."""
    remarks = [_remarks(line) for line in lines]
    counts = Counter(remark for of_line in remarks for remark in of_line)
    common = [remark for remark, count in counts.items() if count >= COMMON]
    mark = {remark: f"({letter})" for letter, remark in zip(ascii_lowercase, common, strict=False)}
    head = "| claim of the paper | effect [95 % interval] | data sets | verdict | remarks |"
    rows = [
        f"| {line['claim']} | {_interval(line)} | {line['datasets'] or '–'} | {_verdict(line)} | "
        f"{_marked(of_line, mark)} |"
        for line, of_line in zip(lines, remarks, strict=True)
    ]
    notes = [f"{letter} {remark}" for remark, letter in mark.items()]
    below = ["", "; ".join(notes)] if notes else []
    return "\n".join([head, "|---" * 5 + "|", *rows, *below])


def _verdict(line: dict[str, Any]) -> str:
    """Of images that are scaled down it is no reproduction of the paper's tables."""
    return line["verdict"] + f" ({AT_CPU_SCALE})" * (CPU_SCALE in line["remarks"])


def _remarks(line: dict[str, Any]) -> list[str]:
    """What weighs a verdict; which runs are missing stands at the end of the README."""
    return [
        r.replace("|", "\\|")
        for r in line["remarks"]
        if not r.endswith("not finished") and r != CPU_SCALE
    ]


def _marked(remarks: list[str], mark: dict[str, str]) -> str:
    letters = " ".join(sorted(mark[remark] for remark in remarks if remark in mark))
    return "; ".join(filter(None, [letters, *(r for r in remarks if r not in mark)]))


def _interval(line: dict[str, Any]) -> str:
    if line["effect"] is None:
        return "–"
    unit = f" {line['unit']}" if line["unit"] else ""
    sign = "" if line["smallest"] is None else "+"  # of a share or a ratio there is none
    if line["low"] is None:
        return f"{line['effect']:{sign}.2f}{unit}"
    low, high = (f"{line[end]:{sign}.2f}" for end in ("low", "high"))
    return f"{line['effect']:{sign}.2f} [{low}, {high}]{unit}"


def answers_text(rows: list[Row]) -> str:
    """A line for each question, a column for each kind of data; the most data sets in its head."""
    found = answers(rows)
    kinds = list(dict.fromkeys(entry["kind"] for entry in found))
    most = {k: max(len(e["effect"].datasets) for e in found if e["kind"] == k) for k in kinds}
    columns = ["question", *(f"{kind} ({most[kind]})" for kind in kinds)]
    asked_of = {question.text: question.kinds for question in QUESTIONS}
    lines = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    for question in dict.fromkeys(entry["question"] for entry in found):
        cells = {NAMES[kind]: NOT_RUN for kind in asked_of[question]}
        cells |= {e["kind"]: _answer(e, most) for e in found if e["question"] == question}
        lines.append(f"| {' | '.join([question, *(cells.get(k, NOT_ASKED) for k in kinds)])} |")
    return "\n".join(lines)


def _answer(entry: dict[str, Any], most: dict[str, int]) -> str:
    found: Effect = entry["effect"]
    line = {"effect": found.mean, "low": found.low, "high": found.high}
    fewer = len(found.datasets) < most[entry["kind"]]
    where = f", {len(found.datasets)} of them" if fewer else ""
    # Networks that lost a whole layer count with their scores, so a reader has to know of them.
    cut_off = f"; cut off: {', '.join(entry['cut_off'])}" if entry["cut_off"] else ""
    interval = _interval(line | {"unit": "", "smallest": SMALLEST})
    alone = f"; not without {' or '.join(entry['depends_on'])}" if entry["depends_on"] else ""
    sets = len(entry["other_processors"])
    apart = f"; {sets} of them on two CPUs" if sets else ""
    return f"**{entry['verdict']}**, {interval}{where}{cut_off}{apart}{alone}"


def table7_text(rows: list[Row]) -> str:
    """Which metric the paper's MLP columns resemble, and how far the tuned baselines lie."""
    cells = nearer_metric(rows)
    swapped = [c for c in cells if c["nearer"] == "swapped_balanced_accuracy"]
    own = [c for c in cells if c["nearer"] == "balanced_accuracy"]
    lines = [
        f"- Of {len(cells)} cells of the paper's MLP columns, {len(swapped)} lie nearer to our "
        f"swapped balanced accuracy and {len(own)} nearer to our balanced accuracy. "
        f"{sum(c['between'] for c in cells)} of them lie between the two; beyond both, the nearer "
        f"one says little. With accuracy as a third candidate, {_nearest(cells)}.",
    ]
    tuned = tuned_beside_paper(rows)
    return "\n".join(lines + [f"- {_budget(m, tuned)}" for m in _tuned_methods(tuned)])


def metrics_text(rows: list[Row]) -> str:
    """Set by set: the paper's value, and which of our two metrics is nearer to it."""
    cells = nearer_metric(rows)
    methods = list(dict.fromkeys(cell["method"] for cell in cells))
    return _by_dataset(cells, methods, _nearer_cell)


def far_text(rows: list[Row]) -> str:
    """The cells of table 7 that none of our metrics comes near, with what could be the reason."""
    far = [cell for cell in nearer_metric(rows) if min(_gaps(cell)) >= FAR]
    if not far:
        return f"No cell lies {FAR:g} points or more from all our metrics."
    names = [METRIC_LABELS[metric].lower() for metric in SCORES]
    heads = ["data set", "method", "the paper", *names, "with he_normal"]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for cell in far:
        own = [_spread(rows, cell["method"], cell["dataset"], metric) for metric in SCORES]
        other = f"{cell['method']}_he_normal"
        init = [_spread(rows, other, cell["dataset"], metric) for metric in SCORES]
        shown = [cell["dataset"], method_label(cell["method"]), f"{cell['paper']:.1f}", *own]
        shown.append(" / ".join(init) if all(init) else "–")
        lines.append(f"| {' | '.join(shown)} |")
    return "\n".join(lines)


def _gaps(cell: Row) -> list[float]:
    return [abs(cell[metric] - cell["paper"]) for metric in SCORES]


def _spread(rows: list[Row], method: str, dataset: str, metric: str) -> str:
    """Mean ± standard deviation over seeds; nothing of what was not run."""
    values = list(sample(rows, "tabular", method, f"test_{metric}").get(dataset, {}).values())
    if not values:
        return ""
    return f"{fmean(values):.1f}" + (f" ± {stdev(values):.1f}" if len(values) > 1 else "")


def _by_dataset(cells: list[Row], methods: list[str], text: Callable[[Row], str]) -> str:
    """A line for each data set, a column for each method."""
    lines = [f"| data set | {' | '.join(map(method_label, methods))} |"]
    lines.append("|---" * (1 + len(methods)) + "|")
    for dataset in dict.fromkeys(cell["dataset"] for cell in cells):
        by_method = {cell["method"]: cell for cell in cells if cell["dataset"] == dataset}
        shown = (text(by_method[m]) if m in by_method else "not run" for m in methods)
        lines.append(f"| {dataset} | {' | '.join(shown)} |")
    return "\n".join(lines)


def _nearer_cell(cell: Row) -> str:
    ours = {metric: f"{cell[metric]:.1f}" for metric in SCORES if metric != "accuracy"}
    if cell["nearer"]:
        ours[cell["nearer"]] = f"**{ours[cell['nearer']]}**"
    return f"{cell['paper']:.1f}: {' / '.join(ours.values())}"


def _nearest(cells: list[Row]) -> str:
    counts = Counter(cell["nearest"] for cell in cells)
    named = [
        f"{counts[metric]} lie nearest to our {METRIC_LABELS[metric].lower()}" for metric in SCORES
    ]
    return ", ".join(named) + (f", {counts[None]} to two of them alike" if counts[None] else "")


def tuned_text(rows: list[Row]) -> str:
    """Ours, its distance from the paper's, the trials behind it, the best of them on validation."""
    tuned = tuned_beside_paper(rows)
    if not tuned:
        return "The tuned baselines were not run yet."
    return _by_dataset(tuned, _tuned_methods(tuned), _tuned_cell)


def _tuned_methods(tuned: list[Row]) -> list[str]:
    return [m for m in PAPER_TRIALS if any(t["method"] == m for t in tuned)]


def _tuned_cell(cell: Row) -> str:
    distance = cell["ours"] - cell["paper"]
    return f"{cell['ours']:.1f} ({distance:+.1f}), {cell['trials']}, {cell['valid']:.1f}"


def _budget(method: str, tuned: list[Row]) -> str:
    """Whether more trials might have helped: how late the best one came, and what it was worth."""
    cells = [t for t in tuned if t["method"] == method]
    late = sum(2 * t["best_trial"] > t["trials"] for t in cells)
    distance = fmean(t["ours"] - t["paper"] for t in cells)
    trials = sorted({min(t["trials"] for t in cells), max(t["trials"] for t in cells)})
    return (
        f"{method_label(method)}: {distance:+.1f} points in the mean of {len(cells)} sets, with "
        f"{' to '.join(map(str, trials))} trials where the paper has {PAPER_TRIALS[method]}; the "
        f"best trial came in the second half of the study on {late} of them. In the mean the best "
        f"trials have {fmean(t['valid'] for t in cells):.1f} % on validation, their refits "
        f"{fmean(t['ours'] for t in cells):.1f} % on test."
    )


def progress_text(rows: list[Row]) -> str:
    """What there is: data sets, methods with all their seeds, models."""
    seeds = {row["seed"] for row in rows}
    found: dict[str, dict[tuple[str, str], set[int]]] = {}
    for row in rows:
        ended = found.setdefault(row["dataset"], {})
        seeds_of = ended.setdefault((row["network"], row["method"]), set())
        # On tables a method has its result when its ratio is chosen: it may share a run before.
        waits = row["stage"] == "subnetwork" and network_kind(row["network"]) == "tabular"
        if not waits or row["chosen"]:
            seeds_of.add(row["seed"])
    models = len({row["id"] for row in rows})
    sets = ", ".join(f"{name} ({_methods(of, len(seeds))})" for name, of in found.items())
    return f"{models} models evaluated, {len(seeds)} seeds: {sets}."


def _methods(seeds_of: dict[tuple[str, str], set[int]], n_seeds: int) -> str:
    whole = sum(len(seeds) == n_seeds for seeds in seeds_of.values())
    text = f"{whole} method{'s' if whole != 1 else ''}"
    return text + (f", {len(seeds_of) - whole} in part" if whole < len(seeds_of) else "")

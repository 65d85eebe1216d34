"""The findings of a study in plain words, with numbers from runs.csv: the front page's lines."""

from __future__ import annotations

from statistics import median
from typing import Any

from iunet.labels import dataset_label, method_label
from iunet.study.answers import (
    FIXED_RATIO,
    NOT_ASKED,
    NOT_RUN,
    OPEN,
    QUESTIONS,
    Question,
    compare,
    depends_on,
    each_difference,
    nearer_metric,
    sample,
    shown,
    word,
)
from iunet.tables.effects import Effect
from iunet.tables.metric_problem import metric_problem

Row = dict[str, Any]
KINDS = {"tabular": ("tables", "balanced accuracy"), "vision": ("images", "accuracy")}
WORDS = {  # of the answer to "is it better?"
    "yes": "better than",
    "no": "not better, by a point, than",
    "no, worse": "worse than",
    "open": "not shown to be better or worse than",
}
SEEDS_ONLY = "interval over seeds only"
RULE = (
    "*Yes*: the interval lies above 0 and the mean is a point or more; *no*: a gain of a point is "
    "excluded; *open*: neither; *narrowly*: without some one of the data sets it would be another."
)
RIVALS = {"omp": "OMP", "dense": "the dense network"}
PARTS = {  # of IUNET less a control: what makes the difference?
    "iunet_no_pis": "PIS",
    "ilo_lr16": "PIS beyond a 16 times larger learning rate",
    "iunet_no_ilo": "ILO",
    "iunet_no_prune": "pruning",
    "iunet_shuffled": "the mask beyond the densities of its layers",
}
FRONT = (*RIVALS, "mlp_c", *PARTS, "omp_relative")  # what IUNET is compared with on the front page


def findings(rows: list[Row], real_size: str | None = None) -> list[str]:
    """What is compared is fixed; the words follow from the intervals, as in the answers.

    `real_size` is what the network at its real size adds to the second (`iunet.study.real_size`).
    """
    second = " ".join(filter(None, (what_makes_it(rows), real_size)))
    return list(filter(None, (against_rivals(rows), second, metric_of_table7(rows))))


def conditions(rows: list[Row]) -> str | None:
    """What the points of all findings are of, if nothing else stands beside them."""
    found = [
        f"{metric} on {name} ({over(most, name)}{scale(rows, most)})"
        for kind, (name, metric) in KINDS.items()
        if (most := _widest(rows, kind))
    ]
    if not found:
        return None
    return f"Points are IUNET's less the other's, of test {' and of test '.join(found)}. {RULE}"


def _widest(rows: list[Row], kind: str) -> Effect | None:
    """The comparison on the most data sets."""
    rivals = (compare(rows, kind, "iunet", rival) for rival in FRONT)
    return max(filter(None, rivals), key=lambda e: len(e.datasets), default=None)


def against_rivals(rows: list[Row]) -> str | None:
    heads, remarks = [], []
    for kind, (name, _) in KINDS.items():
        found = {rival: compare(rows, kind, "iunet", rival) for rival in RIVALS}
        if None in found.values():
            continue
        said: dict[str, dict[str, list[str]]] = {}  # where, and how: beside whom
        for rival, effect in found.items():
            how = f"{narrowly(rows, kind, rival, effect)}{beside(effect)}"
            here = said.setdefault(_these(name, effect), {})
            here.setdefault(how, []).append(RIVALS[rival])
        for where, hows in said.items():
            standing = " and ".join(f"{how} {' and '.join(who)}" for how, who in hows.items())
            heads.append(f"On {where} IUNET is {standing}.")
        omp = found["omp"]
        remarks += [without_the_largest(rows, kind, omp), _at_chosen(rows, kind, omp)]
    return " ".join(filter(None, [f"**{' '.join(heads)}**", *remarks])) if heads else None


def _these(name: str, found: Effect) -> str:
    """The kind of data, or the data set itself if it is the only one; images with their scale."""
    which = name if len(found.datasets) > 1 else dataset_label(found.datasets[0])
    return f"{which} (CPU scale)" if name == "images" else which


def narrowly(rows: list[Row], kind: str, rival: str, found: Effect) -> str:
    """Said of an answer that would be another without some one data set."""
    decided = word(found) != OPEN
    return "narrowly " if decided and depends_on(rows, kind, "iunet", rival) else ""


def _at_chosen(rows: list[Row], kind: str, found: Effect) -> str | None:
    """Images are compared at one ratio; here also as the paper does it, if that is another."""
    chosen = compare(rows, kind, "iunet", "omp", at_chosen=True)
    if chosen is None or chosen == found:
        return None
    here = [row for row in rows if row["dataset"] in chosen.datasets]
    listed = ", ".join(f"{method_label(m)} {_ratios(here, kind, m)}" for m in ("omp", "iunet"))
    return (
        f"On {_these(KINDS[kind][0], chosen)}, each at the ratio chosen for it on validation "
        f"({listed}), IUNET − OMP is {points(chosen)}."
    )


def _ratios(rows: list[Row], kind: str, method: str) -> str:
    chosen = sample(rows, kind, method, "ratio", at_chosen=True)
    found = {ratio for of_seeds in chosen.values() for ratio in of_seeds.values()}
    return " or ".join(f"{ratio:g}" for ratio in sorted(found))


def scale(rows: list[Row], found: Effect) -> str:
    """What a reader has to know of images that are scaled down; nothing of tables."""
    here = [r for r in shown(rows, "vision") if r["dataset"] in found.datasets]
    if not here:
        return ""
    weights = [
        w for of in sample(here, "vision", "iunet", "encoder_weights").values() for w in of.values()
    ]
    size = f"MLP_VIS of {max(weights) / 1e6:.1f} million weights, " if weights else ""
    part = "subset, " if any(r["subset"] for r in here) else ""
    interval = f"; {SEEDS_ONLY}" if len(found.datasets) == 1 else ""
    return f"; a CPU-scale study: {part}{size}r = {FIXED_RATIO}{interval}"


def without_the_largest(rows: list[Row], kind: str, found: Effect) -> str | None:
    """How much of the difference one of several data sets makes, and what remains without it."""
    if len(found.datasets) < 3:
        return None
    each = each_difference(rows, kind, "iunet", "omp")
    most = max(each, key=lambda d: abs(each[d]))
    others = compare([row for row in rows if row["dataset"] != most], kind, "iunet", "omp")
    same = "still" if word(others) == word(found) else "then"
    ahead = sum(difference > 0 for difference in each.values())
    return (
        f"On {KINDS[kind][0]} IUNET − OMP is {points(found, 2)}; IUNET is ahead on {ahead} of "
        f"{len(each)}, the median is {median(each.values()):+.2f}. The largest difference is that "
        f"on {most} ({each[most]:+.1f}); without it {points(others, 2)}, {same} *{word(others)}*."
    )


def what_makes_it(rows: list[Row]) -> str | None:
    """The parts of IUNET by the answers to whether they are needed; `numbers` has the numbers."""
    found = []
    for kind, (name, _) in KINDS.items():
        effects = {r: e for r in PARTS if (e := compare(rows, kind, "iunet", r))}
        most = max(effects.values(), key=lambda e: len(e.datasets), default=None)
        parts: dict[str, list[str]] = {}
        for rival, effect in effects.items():
            notes = ["narrowly"] * bool(narrowly(rows, kind, rival, effect))
            notes += [over(effect, name)] * (effect.datasets != most.datasets)
            note = f" ({', '.join(notes)})" if notes else ""
            parts.setdefault(word(effect), []).append(PARTS[rival] + note)
        listed = [f"*{answer}*: {', '.join(parts[answer])}" for answer in WORDS if answer in parts]
        if listed:
            found.append(f"On {_these(name, most)} {'; '.join(listed)}.")
    return f"**What of IUNET makes the difference?** {' '.join(found)}" if found else None


def numbers(rows: list[Row]) -> str | None:
    """Every question with its answer and number, as a table with a column for each kind of data."""
    widest = {kind: most for kind in KINDS if (most := _widest(rows, kind))}
    if not widest:
        return None
    heads = [over(most, KINDS[kind][0]) for kind, most in widest.items()]
    lines = [f"| | {' | '.join(heads)} |", "|---" * (1 + len(widest)) + "|"]
    asked = {q.theirs: q for q in QUESTIONS if q.ours == "iunet"}
    for question in map(asked.__getitem__, FRONT):
        cells = {kind: _number(rows, kind, question) for kind in widest}
        if set(cells.values()) - {NOT_RUN, NOT_ASKED}:
            lines.append(f"| {question.text} | {' | '.join(cells.values())} |")
    return "\n".join(lines)


def _number(rows: list[Row], kind: str, question: Question) -> str:
    if kind not in question.kinds:
        return NOT_ASKED
    rival = question.theirs
    if (found := compare(rows, kind, "iunet", rival)) is None:
        return NOT_RUN
    answer = f"{narrowly(rows, kind, rival, found)}{word(found)}"
    return f"**{answer}**, {points(found)}{_where(rows, kind, found)}"


def _where(rows: list[Row], kind: str, found: Effect) -> str:
    """Said of a comparison on other data sets than the head of `numbers` names."""
    most = _widest(rows, kind)
    same = (found.datasets, found.seeds) == (most.datasets, most.seeds)
    alone = f", {SEEDS_ONLY}" if len(found.datasets) == 1 else ""
    return "" if same else f"; {over(found, KINDS[kind][0])}{alone}"


def metric_of_table7(rows: list[Row]) -> str | None:
    cells = nearer_metric(rows)
    if not cells:
        return None
    counts, tuned = (metric_problem()["counts"][columns] for columns in ("mlp_tab", "tuned"))
    near = sum(cell["nearer"] == "swapped_balanced_accuracy" for cell in cells)
    between = sum(cell["between"] for cell in cells)
    nearest = sum(cell["nearest"] == "accuracy" for cell in cells)
    sets = len({cell["dataset"] for cell in cells})
    return (
        "**The MLP columns of the paper's table 7 are not balanced accuracies.** On test sets with "
        f"equally frequent classes, {counts['attainable_as_mean']} of "
        f"{counts['equal_class_cells']} cells are values that a mean of three balanced accuracies "
        f"can take, while {tuned['attainable_as_mean']} of {tuned['equal_class_cells']} cells of "
        f"XGB, TabNet and MLP+C are; {counts['majority']} of {counts['cells']} equal the "
        "majority's share of the test set. "
        f"Of {len(cells)} cells that we ran ({sets} tables), {near} lie nearer to our balanced "
        "accuracy with labels and predictions swapped than to the right one: weak evidence, since "
        f"the swapped one is mostly the larger and only {between} lie between the two, and "
        f"{nearest} lie nearest to our plain accuracy."
    )


def beside(found: Effect) -> str:
    """As the answers say it; a gain that is shown, but not to be a point, is open there."""
    if word(found) == "open" and found.low is not None and found.low > 0:
        return "better, but not surely by a point, than"
    return WORDS[word(found)]


def points(found: Effect, digits: int = 1) -> str:
    ends = (found.low, found.high)
    interval = "" if found.low is None else f" [{', '.join(f'{e:+.{digits}f}' for e in ends)}]"
    return f"{found.mean:+.{digits}f} points{interval}"


def over(found: Effect, name: str) -> str:
    sets = len(found.datasets)
    many = {"images": "image sets"}.get(name, name)
    which = f"{sets} {many}" if sets > 1 else dataset_label(found.datasets[0])
    return f"{which}, {found.seeds} seed{'s' * (found.seeds != 1)}"

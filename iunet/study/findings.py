"""The findings of a study in plain words, with numbers from runs.csv: the front page's lines."""

from __future__ import annotations

from typing import Any

from iunet.labels import dataset_label
from iunet.study.answers import (
    FIXED_RATIO,
    OPEN,
    compare,
    depends_on,
    each_difference,
    nearer_metric,
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
RIVALS = {  # ablations and controls: what of IUNET makes the difference?
    "iunet_no_pis": "itself without PIS",
    "iunet_no_prune": "its own supernet without pruning",
    "ilo_lr16": "ILO with 16 times larger steps in place of PIS",
    "omp_lr16": "OMP with 16 times larger steps",
    "iunet_shuffled": "its own mask shuffled within layers",
    "omp_relative": "OMP with the relative score",
}
ASKED = {  # in the head of the second finding
    "iunet_no_pis": "Is PIS needed?",
    "ilo_lr16": "Is it more than a larger step?",
    "iunet_no_prune": "Is pruning needed?",
    "iunet_shuffled": "Is the mask more than the densities of its layers?",
}


def findings(rows: list[Row], real_size: str | None = None) -> list[str]:
    """What is compared is fixed; the words follow from the intervals, as in the answers.

    `real_size` is what the network at its real size adds to the second (`iunet.study.real_size`).
    """
    second = " ".join(filter(None, (what_makes_it(rows), real_size)))
    return list(filter(None, (against_rivals(rows), second, metric_of_table7(rows))))


def against_rivals(rows: list[Row]) -> str | None:
    heads, sentences = [], []
    for kind, (name, metric) in KINDS.items():
        omp, dense = (compare(rows, kind, "iunet", rival) for rival in ("omp", "dense"))
        if omp is None or dense is None:
            continue
        again = "" if beside(omp) == beside(dense) else f"{beside(dense)} "
        narrow = narrowly(rows, kind, "omp", omp)
        heads.append(f"On {name} IUNET is {narrow}{beside(omp)} OMP and {again}the dense network.")
        where = over(omp, name) if omp.datasets == dense.datasets else over(omp, name, dense)
        sentences.append(
            f"On {name} IUNET − OMP is {points(omp)} of {metric}{_at_chosen(rows, kind, omp)}, "
            f"IUNET − dense {points(dense)} ({where}{scale(rows, omp)})."
        )
        if len(omp.datasets) > 2:
            sentences.append(without_the_largest(rows, kind, omp))
    return f"**{' '.join(heads)}** {' '.join(sentences)}" if heads else None


def narrowly(rows: list[Row], kind: str, rival: str, found: Effect) -> str:
    """Said of an answer that would be another without some one data set."""
    decided = word(found) != OPEN
    return "narrowly " if decided and depends_on(rows, kind, "iunet", rival) else ""


def _at_chosen(rows: list[Row], kind: str, found: Effect) -> str:
    """Images are compared at one ratio; here also as the paper does it, if that is another."""
    chosen = compare(rows, kind, "iunet", "omp", at_chosen=True)
    if chosen is None or chosen == found:
        return ""
    return f" ({points(chosen)} if each stands at the ratio chosen for it on validation)"


def scale(rows: list[Row], found: Effect) -> str:
    """What a reader has to know of images that are scaled down; nothing of tables."""
    here = [r for r in shown(rows, "vision") if r["dataset"] in found.datasets]
    if not here:
        return ""
    weights = {r["encoder_weights"] for r in here if r["method"] == "iunet"} - {None}
    size = f"MLP_VIS of {max(weights) / 1e6:.1f} million weights, " if weights else ""
    part = "subset, " if any(r["subset"] for r in here) else ""
    interval = "; interval over seeds only" if len(found.datasets) == 1 else ""
    return f"; a CPU-scale study: {part}{size}r = {FIXED_RATIO}{interval}"


def without_the_largest(rows: list[Row], kind: str, found: Effect) -> str:
    """How much of the difference one data set makes, and what remains without it."""
    each = each_difference(rows, kind, "iunet", "omp")
    most = max(each, key=lambda d: abs(each[d]))
    others = compare([row for row in rows if row["dataset"] != most], kind, "iunet", "omp")
    same = "still" if word(others) == word(found) else "then"
    return (
        f"On {most} alone it is {each[most]:+.1f}; without it {points(others)}, {same} "
        f"{beside(others)} OMP."
    )


def what_makes_it(rows: list[Row]) -> str | None:
    found = {
        kind: {rival: e for rival in RIVALS if (e := compare(rows, kind, "iunet", rival))}
        for kind in KINDS
    }
    heads = [text for rival in ASKED if (text := _asked(rows, found, rival))]
    sentences = [
        _beside_controls(rows, kind, of_kind) for kind, of_kind in found.items() if of_kind
    ]
    return f"**{' '.join(heads)}** {' '.join(sentences)}" if heads else None


def _asked(rows: list[Row], found: dict[str, dict[str, Effect]], rival: str) -> str | None:
    """The question, and its answer on each kind of data: those together that have the same."""
    kinds: dict[str, list[str]] = {}
    for kind, of_kind in found.items():
        if effect := of_kind.get(rival):
            answer = narrowly(rows, kind, rival, effect) + word(effect)
            kinds.setdefault(answer, []).append(KINDS[kind][0])
    said = ", ".join(f"on {' and '.join(names)} {answer}" for answer, names in kinds.items())
    return f"{ASKED[rival]} {said[0].upper()}{said[1:]}." if said else None


def _beside_controls(rows: list[Row], kind: str, found: dict[str, Effect]) -> str:
    """IUNET beside its controls, those together of which the same can be said."""
    name, metric = KINDS[kind]
    groups: dict[str, list[str]] = {}
    for rival, effect in found.items():
        groups.setdefault(beside(effect), []).append(rival)
    said = "; ".join(
        f"{words} {', '.join(RIVALS[rival] for rival in rivals)} "
        f"({_range([found[rival] for rival in rivals], name)})"
        for words, rivals in groups.items()
    )
    most = max(found.values(), key=lambda e: len(e.datasets))
    return f"On {name} ({metric}{scale(rows, most)}) IUNET is {said}."


def _range(effects: list[Effect], name: str) -> str:
    """One difference with its interval, of several the smallest and the largest; and on what."""
    means = [effect.mean for effect in effects]
    text = f"{min(means):+.1f} to {max(means):+.1f} points"
    where = dict.fromkeys(over(effect, name) for effect in effects)
    return f"{text if len(effects) > 1 else points(effects[0])}; {' and '.join(where)}"


def metric_of_table7(rows: list[Row]) -> str | None:
    cells = nearer_metric(rows)
    if not cells:
        return None
    counts = metric_problem()["counts"]["mlp_tab"]
    near = sum(cell["nearer"] == "swapped_balanced_accuracy" for cell in cells)
    between = sum(cell["between"] for cell in cells)
    nearest = sum(cell["nearest"] == "accuracy" for cell in cells)
    sets = len({cell["dataset"] for cell in cells})
    return (
        "**The MLP columns of the paper's table 7 are not balanced accuracies.** On test sets with "
        f"equally frequent classes, {counts['attainable_as_mean']} of "
        f"{counts['equal_class_cells']} cells are values that a balanced accuracy can take; "
        f"{counts['majority']} of {counts['cells']} equal the majority's share of the test set. "
        f"Of {len(cells)} cells that we ran ({sets} tables), {near} lie nearer to our swapped "
        "balanced accuracy (labels and predictions exchanged in the call) than to our balanced "
        f"accuracy. That alone is weak: only {between} lie between the two, and {nearest} lie "
        "nearest to our plain accuracy."
    )


def beside(found: Effect) -> str:
    """As the answers say it; a gain that is shown, but not to be a point, is open there."""
    if word(found) == "open" and found.low is not None and found.low > 0:
        return "better, but not surely by a point, than"
    return WORDS[word(found)]


def points(found: Effect) -> str:
    interval = "" if found.low is None else f" [{found.low:+.1f}, {found.high:+.1f}]"
    return f"{found.mean:+.1f} points{interval}"


def over(found: Effect, name: str, other: Effect | None = None) -> str:
    sets = len(found.datasets)
    which = f"{sets} {name}" if sets > 1 else dataset_label(found.datasets[0])
    more = f" and {len(other.datasets)}" if other else ""
    return f"{which}{more}, {found.seeds} seed{'s' * (found.seeds != 1)}"

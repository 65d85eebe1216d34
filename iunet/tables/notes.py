"""Notes of all tables: stand-ins, subsets of data, budgets of tuning, failed trials."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from iunet.baselines.catalog import LEARNERS
from iunet.labels import dataset_label
from iunet.runs.entries import Benchmark, Cell
from iunet.runs.settings import study_budget
from iunet.tables.document import NOT_KNOWN, TableDocument

if TYPE_CHECKING:
    import pandas as pd

MANY_FAILED = 0.1  # the share of a study's trials from which on its result may be due to that


def note_subsets(document: TableDocument, subsets: dict[str, str]) -> None:
    """Note which part of a data set ran; a part can neither agree with the paper nor differ.

    The key of a row names its data set where a column of its head does.
    """
    for row in document.rows:
        head = dict(zip(document.row_header, row.key.split("/"), strict=False))
        if head.get("Dataset") in subsets:
            row.notes.append(f"subset: {subsets[head['Dataset']]}")
            for cell in document.cells[row.key].values():
                cell.agrees = cell.agrees and NOT_KNOWN


def stand_in_text(bench: Benchmark, cells: list[Cell]) -> str:
    """A sentence for captions: which data sets take the place of the paper's."""
    datasets = {cell.dataset for cell in cells}
    stand_ins = {p: ours for p, ours in bench.config["stand_ins"].items() if ours in datasets}
    pairs = [f"{ours} for {dataset_label(paper)}" for paper, ours in stand_ins.items()]
    return f" Stand-ins for the paper's data: {', '.join(pairs)}." if pairs else ""


def tuning_notes(bench: Benchmark, cells: list[Cell]) -> list[str]:
    """The budgets of tuned methods, and the data that only they saw."""
    config = bench.config
    study = "data set and seed" if config["tuning"]["study_per"] == "seed" else "data set"
    tuned = dict.fromkeys(cell.method.recipe for cell in cells if cell.method.tuned)
    budgets = "; ".join(_budget_text(config, learner) for learner in tuned)
    return [f"Tuning budget per {study}: {budgets}.", _what_methods_saw(config)] if tuned else []


def failure_notes(runs: pd.DataFrame) -> list[str]:
    """The studies in which more than a tenth of the trials failed, if there are any."""
    runs = runs.assign(trials=runs["trials_complete"] + runs["trials_failed"])
    many = runs[runs["trials_failed"] > MANY_FAILED * runs["trials"]]
    studies = many.drop_duplicates(["dataset", "method", "study"])
    told = [
        f"{r.method} on {r.dataset} ({r.trials_failed:.0f} of {r.trials:.0f})"
        for r in studies.itertuples()
    ]
    return [f"More than a tenth of the trials failed: {', '.join(told)}."] if told else []


def _what_methods_saw(config: dict[str, Any]) -> str:
    """Rows and class weights, where they differ between methods of one table."""
    both = config["tuning"]["refit_on"] == "train_valid"
    rows = "train and valid" if both else "train alone, as the MLP family is"
    weighted = [
        entry.label
        for name, entry in LEARNERS.items()
        if config["tuning"][name].get("class_weights") == "balanced"
    ]
    verb = "weight their" if len(weighted) > 1 else "weights its"
    *first, last = weighted or ["None of them"]
    who = f"{' and '.join(filter(None, [', '.join(first), last]))} {verb} classes"
    own = "weighted" if config["train"]["class_weights"] == "balanced" else "not weighted"
    return (
        f"XGB, TABN and MLP_TAB+C are fitted on {rows}; the MLP family sees train alone. {who}; "
        f"those of the MLP family are {own}, unless a method's row says so."
    )


def _budget_text(config: dict[str, Any], learner: str) -> str:
    budget = study_budget(config, learner)
    limit = f", at most {budget['minutes']} minutes" if budget["minutes"] else ""
    return f"{learner} {budget['trials']} trials{limit}"

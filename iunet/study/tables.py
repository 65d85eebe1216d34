"""The tables that `make publish` fills into the study's documents, all from runs.csv.

Documents are written by hand around them (`iunet.study.publish.fill`).
"""

from __future__ import annotations

from pathlib import Path
from statistics import fmean, median

import pandas as pd

from iunet.artifacts import read_json
from iunet.labels import dataset_label, method_label
from iunet.results.collect import read_runs_csv
from iunet.runs.names import base_network
from iunet.study.frames import by_dataset, markdown, scores
from iunet.study.real_size import real_size_table
from iunet.study.table7 import table7_tables
from iunet.tables.effects import Effect
from iunet.tables.questions import (
    FIXED_RATIO,
    NAMES,
    NETWORKS,
    QUESTIONS,
    answers,
    compare,
    each_difference,
)
from iunet.tables.verdicts import NOT_RUN, answer

NOT_ASKED = "–"
# What IUNET is compared with on the front page.
FRONT = (
    *("omp", "dense", "mlp_c", "iunet_no_pis", "ilo_lr16", "iunet_no_ilo", "iunet_no_prune"),
    *("iunet_shuffled", "omp_relative"),
)
LAZY = ("omp", "iunet_no_pis", "iunet_no_ilo", "iunet", "omp_lr16", "ilo_lr16")
# Methods that differ from IUNET in one setting: what it is, on which data, its value by method.
SWEEPS = (
    (
        "κ, the factor on initial weights",
        ("tabular", "vision"),
        {
            "iunet_no_pis": "1",
            "iunet": "1/4",
            "iunet_kappa0.0625": "1/16",
            "iunet_kappa0.015625": "1/64",
            "iunet_kappa0.00390625": "1/256",
        },
    ),
    (
        "λ, the weight of ILO's contrastive part",
        ("tabular",),
        {"iunet_lambda0.25": "0.25", "iunet_lambda0.5": "0.5", "iunet": "1"},
    ),
    (
        "κ, with r chosen on validation among 2, 4 and 8",
        ("tabular",),
        {
            "iunet": "1/4, r = 8",
            "search_kappa0.25": "1/4",
            "search_kappa0.125": "1/8",
            "search_kappa0.0625": "1/16",
        },
    ),
    (
        "corruption, the share of features that a view replaces",
        ("tabular",),
        {
            "iunet_no_ilo": "no views",
            "iunet_corruption0.3": "0.3",
            "iunet": "0.6",
            "iunet_corruption0.9": "0.9",
        },
    ),
    (
        "transforms that make the views",
        ("vision",),
        {
            "iunet_no_ilo": "no views",
            "iunet_only_resize": "resize",
            "iunet_only_horiz": "horiz",
            "iunet_only_color": "color",
            "iunet_only_graysc": "graysc",
            "iunet": "all four",
        },
    ),
)
SWEPT = {method for _, _, methods in SWEEPS for method in methods} - {
    *("iunet", "iunet_no_pis", "iunet_no_ilo")
}


def filled_tables(folder: Path) -> dict[str, str]:
    """Every table of the documents as Markdown, by the name in its marker."""
    runs = read_runs_csv(folder / "runs.csv")
    return {
        "progress": progress_table(runs),
        "front": questions_table(runs, FRONT, notes=False),
        "questions": questions_table(runs, None, notes=True),
        "IUNET − OMP": differences_table(runs),
        "claims": claims_table(read_json(folder / "tables" / "claims.json")),
        "overlaps": overlaps_table(runs),
        "β-LASSO": beta_lasso_table(runs),
        **table7_tables(runs),
        "sweeps": sweeps_tables(runs),
        "real size": real_size_table(folder),
    }


def interval(found: Effect, digits: int = 2) -> str:
    """+1.23 [+0.45, +2.01]"""
    text = f"{found.mean:+.{digits}f}"
    if found.low is None:
        return text
    return f"{text} [{found.low:+.{digits}f}, {found.high:+.{digits}f}]"


# ---- what there is, and what it answers


def progress_table(runs: pd.DataFrame) -> str:
    """Models, and methods with all their seeds; on tables a method counts when it has chosen."""
    n_seeds = runs["seed"].nunique()
    waits = (runs["stage"] == "subnetwork") & runs["chosen"].isna()
    waits &= runs["network"].map(base_network) == NETWORKS["tabular"]
    lines = []
    for dataset in runs["dataset"].unique():
        here = runs[runs["dataset"] == dataset]
        asked = here.groupby(["network", "method"]).ngroups
        seeds = here[~waits[here.index]].groupby(["network", "method"])["seed"].nunique()
        whole = int((seeds == n_seeds).sum())
        counts = (here["id"].nunique(), whole, asked - whole)
        lines.append([dataset_label(dataset), *map(str, counts)])
    lines.append(["all", str(runs["id"].nunique()), "", ""])
    return markdown(["data set", "models", f"methods with {n_seeds} seeds", "in part"], lines)


def questions_table(runs: pd.DataFrame, rivals: tuple[str, ...] | None, notes: bool) -> str:
    """A line for each question, a column for each kind of data."""
    found = {(entry["question"], entry["kind"]): entry for entry in answers(runs)}
    kinds = list(dict.fromkeys(kind for _, kind in found))
    most = {
        kind: max((e["effect"].datasets for (_, k), e in found.items() if k == kind), key=len)
        for kind in kinds
    }
    lines = []
    for question in QUESTIONS:
        if rivals and (question.ours != "iunet" or question.theirs not in rivals):
            continue
        cells = [NOT_RUN if k in map(NAMES.get, question.kinds) else NOT_ASKED for k in kinds]
        for i, kind in enumerate(kinds):
            if entry := found.get((question.text, kind)):
                cells[i] = _answer(entry, len(most[kind]), notes)
        if set(cells) - {NOT_RUN, NOT_ASKED}:
            lines.append([question.text, *cells])
    heads = [
        f"{len(sets)} {kind}" if len(sets) > 1 else dataset_label(sets[0])
        for kind, sets in most.items()
    ]
    return markdown(["question", *heads], lines)


def _answer(entry: dict, most: int, notes: bool) -> str:
    found: Effect = entry["effect"]
    hangs = entry["depends_on"]
    answer = f"**{'narrowly ' * bool(hangs and not notes)}{entry['verdict']}**, {interval(found)}"
    answer += f", {len(found.datasets)} of them" * (len(found.datasets) < most)
    if not notes:
        return answer
    # Networks that lost a whole layer count with their scores, so a reader has to know of them.
    answer += f"; cut off: {', '.join(entry['cut_off'])}" if entry["cut_off"] else ""
    apart = len(entry["other_processors"])
    answer += f"; {apart} of them on two CPUs" if apart else ""
    return answer + (f"; not without {' or '.join(hangs)}" if hangs else "")


def differences_table(runs: pd.DataFrame) -> str:
    """IUNET − OMP on every table, and what is left without the largest difference."""
    each = each_difference(runs, "tabular", "iunet", "omp")
    lines = [[dataset, f"{d:+.2f}"] for dataset, d in sorted(each.items(), key=lambda e: -e[1])]
    whole = compare(runs, "tabular", "iunet", "omp")
    largest = max(each, key=lambda dataset: abs(each[dataset]))
    others = compare(runs[runs["dataset"] != largest], "tabular", "iunet", "omp")
    ahead = sum(difference > 0 for difference in each.values())
    lines += [
        ["median", f"{median(each.values()):+.2f}"],
        ["IUNET ahead", f"{ahead} of {len(each)}"],
        ["mean", f"{interval(whole)}, *{answer(whole)}*"],
        [f"mean without {largest}", f"{interval(others)}, *{answer(others)}*"],
    ]
    return markdown(["table", "IUNET − OMP, points"], lines)


def claims_table(document: dict) -> str:
    """The claims with their effects and verdicts, in the words of the table of claims."""
    columns = ("effect", "interval", "datasets", "verdict", "remarks")
    labels = {column["key"]: column["label"].lower() for column in document["columns"]}
    lines = []
    for row in document["rows"]:
        texts = (document["cells"][row["key"]][c]["values"]["value"]["text"] for c in columns)
        lines.append([*row["labels"], *(text.replace("|", "\\|") for text in texts)])
    return markdown(["claim of the paper", *map(labels.get, columns)], lines)


# ---- masks


def overlaps_table(runs: pd.DataFrame) -> str:
    """The share of each method's mask that the mask of the initial weights has, too.

    Only runs that all shown methods have: a mean of others would not compare.
    """
    columns = {}
    for kind in NETWORKS:
        wide = scores(runs, kind, "overlap_with_initial_mask")
        both = wide.dropna(subset=["omp", "iunet"])
        means = by_dataset(both[[m for m in LAZY if m in both and both[m].notna().all()]])
        name = f"{len(means)} {NAMES[kind]}" if len(means) > 1 else dataset_label(means.index[0])
        columns[name] = means.mean()
    lines = [
        [method_label(m), *(f"{c[m]:.2f}" if m in c else "–" for c in columns.values())]
        for m in LAZY
    ]
    lines.append(["by chance", *[f"{1 / FIXED_RATIO:.2f}"] * len(columns)])
    return markdown(["method", *columns], lines)


def beta_lasso_table(runs: pd.DataFrame) -> str:
    kept = 100 / scores(runs, "tabular", "encoder_compression")[["beta_lasso", "omp", "iunet"]]
    lines = [
        [method_label(method), f"{kept[method].min():.1f} %", f"{kept[method].max():.1f} %"]
        for method in kept
    ]
    return markdown(["encoder weights kept on tables", "least", "most"], lines)


# ---- one setting at a time


def sweeps_tables(runs: pd.DataFrame) -> str:
    """A table for every sweep that was run, on the data sets where it was."""
    tables = []
    for title, kinds, methods in SWEEPS:
        for kind in kinds:
            wide = scores(runs, kind)
            own = wide[[m for m in methods if m in SWEPT and m in wide]].dropna(how="all")
            datasets = list(own.index.unique("dataset"))
            if datasets:
                lines = [
                    [value, *(_swept(runs, wide, kind, method, d) for d in datasets)]
                    for method, value in methods.items()
                ]
                tables.append(markdown([title, *map(dataset_label, datasets)], lines))
    return "\n\n".join(tables)


def _swept(runs: pd.DataFrame, wide: pd.DataFrame, kind: str, method: str, dataset: str) -> str:
    """The score, and how far it is from IUNET's on the seeds that both have."""
    values = wide.loc[dataset].get(method, pd.Series(dtype=float)).dropna()
    if values.empty:
        return NOT_RUN
    here = runs[runs["dataset"] == dataset]
    found = compare(here, kind, method, "iunet") if method != "iunet" else None
    few = ", one seed" * (len(values) == 1)
    return f"{fmean(values):.1f}" + (f" ({interval(found, 1)}{few})" if found else "")

"""The tables that `make publish` fills into the study's documents, all from runs.csv.

Documents are written by hand around them (`iunet.study.publish.fill`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from iunet.artifacts import read_json
from iunet.labels import dataset_label, method_label, method_order, plain_method
from iunet.page.build import claims_view
from iunet.paper import paper_table
from iunet.results.collect import read_runs_csv
from iunet.results.selection import MAIN_NETWORKS
from iunet.runs.names import base_network
from iunet.study.frames import (
    NAMES,
    SWEEPS,
    SWEPT,
    by_dataset,
    comparisons,
    differences,
    markdown,
    scores,
)
from iunet.study.table7 import table7_tables
from iunet.tables.cells import NONE
from iunet.tables.verdicts import (
    FEW,
    NOT_RUN,
    UNDECIDED,
    Finding,
    Interval,
    effect,
    finding,
    undecided_word,
)

TRANSFORMS_OF = {"tabular": ["feat"], "vision": ["resize", "horiz", "color", "graysc"]}
UNTRAINED = {
    "iunet_no_prune": "θ†, not pruned",  # that is θ† itself
    "iunet": "IUNET's mask ⊙ θ†",
    "iunet_other_seed": "the mask of another seed ⊙ θ†",
    "iunet_shuffled": "the mask, shuffled ⊙ θ†",
    "iunet_random": "a random mask ⊙ θ†",
    "omp": "OMP's mask ⊙ θ†",
    "iunet_no_ilo": "IUNET's without ILO",
    "iunet_no_pis": "IUNET's without PIS",
    "ilo_lr16": "16 times the learning rate at κ = 1, with ILO",
    "ilo_twin": "the exact twin of κ = 1/4 at κ = 1, with ILO",
}
RATIO = 8  # of tables, and of IUNET's choice on CIFAR10
REAL_SIZE = "cifar10-complete"
LAZY = ("omp", "iunet_no_pis", "iunet_no_ilo", "iunet", "omp_lr16", "ilo_lr16", "ilo_twin")
LAZY = {method: method_label(method) for method in LAZY} | {"chance": "by chance"}


def filled_tables(folder: Path) -> dict[str, str]:
    """Every table of the documents as Markdown, by the name in its marker."""
    runs = read_runs_csv(folder / "runs.csv")
    found = comparisons(runs)
    return {
        "progress": progress_table(runs),
        "front": front_table(found[found["front"]]),
        "comparisons": comparisons_tables(found),
        "IUNET − OMP": differences_table(runs),
        "claims": claims_table(read_json(folder / "tables" / "claims.json")),
        "overlaps": overlaps_table(runs),
        "invariance": invariance_table(runs),
        "β-LASSO": beta_lasso_table(runs),
        **table7_tables(runs),
        "sweeps": sweeps_tables(runs),
        "real size": real_size_table(runs),
    }


def shown(mean: float, interval: Interval | None, digits: int = 2) -> str:
    """+1.23 [+0.45, +2.01]"""
    ends = interval and f" [{interval[0]:+.{digits}f}, {interval[1]:+.{digits}f}]"
    return f"{mean:+.{digits}f}{ends or ''}"


def data_label(datasets: list[str], kind: str) -> str:
    return f"{len(datasets)} {NAMES[kind]}" if len(datasets) > 1 else dataset_label(datasets[0])


# ---- what there is, and what it answers


def progress_table(runs: pd.DataFrame) -> str:
    """Models, and methods with all their seeds; on tables a method counts when it has chosen."""
    n_seeds = runs["seed"].nunique()
    waits = (runs["stage"] == "subnetwork") & runs["chosen"].isna()
    waits &= runs["network"].map(base_network) == MAIN_NETWORKS["tabular"]
    lines = []
    for dataset, here in runs.groupby("dataset", sort=False):
        asked = here.groupby(["network", "method"]).ngroups
        seeds = here[~waits[here.index]].groupby(["network", "method"])["seed"].nunique()
        whole = int((seeds == n_seeds).sum())
        lines.append([dataset_label(dataset), here["id"].nunique(), whole, asked - whole])
    lines.append(["all", runs["id"].nunique(), "", ""])
    return markdown(["data set", "models", f"methods with {n_seeds} seeds", "in part"], lines)


def front_table(found: pd.DataFrame) -> str:
    """A line for each statement; columns for each kind of data, and for data sets beyond them."""
    columns: dict[str, dict[str, str]] = {}
    for kind, part in found.groupby("kind", sort=False):
        findings = dict(zip(part["statement"], part["finding"], strict=True))
        sets = max((f.effect.datasets for f in findings.values()), key=len)
        columns[data_label(sets, kind)] = {s: _on_sets(f) for s, f in findings.items()}
        if len(sets) >= FEW:
            columns["beyond them"] = {s: _beyond(f) for s, f in findings.items()}
    lines = [[s, *(c.get(s, NONE) for c in columns.values())] for s in found["statement"].unique()]
    return markdown(["", *columns], lines)


def comparisons_tables(found: pd.DataFrame) -> str:
    """A table for each kind of data, with how single data sets stand and what else to know."""
    tables = []
    for kind, part in found.groupby("kind", sort=False):
        most = max((f.effect.datasets for f in part["finding"]), key=len)
        lines = []
        for row in part.itertuples():
            standing = row.finding.standing
            ahead = f"{standing.ahead}, {standing.median:+.2f}" if standing else NONE
            texts = [_on_sets(row.finding), _beyond(row.finding), ahead, _remarks(row, len(most))]
            lines.append([row.statement, *texts])
        header = ["on these sets", "beyond them", "ahead on, median", "remarks"]
        tables.append(markdown([data_label(most, kind), *header], lines))
    return "\n\n".join(tables)


def _on_sets(found: Finding) -> str:
    return f"**{found.on_sets}** {shown(found.effect.mean, found.effect.interval)}"


def _beyond(found: Finding) -> str:
    if not found.effect.interval_beyond:
        return NONE
    word = found.beyond
    if word == UNDECIDED:
        word += f" ({undecided_word(found.standing.within)})"
    low, high = found.effect.interval_beyond
    return f"{word} [{low:+.2f}, {high:+.2f}]"


def _remarks(row: Any, most: int) -> str:
    """Networks that lost a whole layer count with their scores, so a reader has to know of them."""
    datasets = row.finding.effect.datasets
    texts = [f"{len(datasets)} data sets"] * (len(datasets) < most)
    texts += [f"cut off: {', '.join(row.cut_off)}"] * bool(row.cut_off)
    texts += [f"{len(row.other_processors)} on two CPUs"] * bool(row.other_processors)
    return "; ".join([*texts, *row.finding.remark_on_deciding])


def differences_table(runs: pd.DataFrame) -> str:
    """IUNET − OMP on every table, and what is left without the largest difference."""
    found = differences(runs, "tabular", "iunet", "omp")
    sets = by_dataset(found).sort_values(ascending=False, kind="stable")
    largest = sets.abs().idxmax()
    lines = [[dataset, f"{difference:+.2f}"] for dataset, difference in sets.items()]
    lines.append(["median", f"{sets.median():+.2f}"])
    lines.append(["IUNET ahead", f"{(sets > 0).sum()} of {len(sets)}"])
    for title, part in (("mean", found), (f"mean without {largest}", found.drop(largest, level=0))):
        each = finding(part)
        mean, ends = each.effect.mean, each.effect.interval_beyond
        lines.append(
            [f"{title}, these sets", f"{shown(mean, each.effect.interval)}, {each.on_sets}"]
        )
        if ends:
            lines.append([f"{title}, beyond", f"{shown(mean, ends)}, {each.beyond}"])
    return markdown(["table", "IUNET − OMP, points"], lines)


def claims_table(document: dict) -> str:
    """The claims as the page has them: verdicts, effect, the paper's numbers, and one remark."""
    columns = {
        "verdict": "on these sets",
        "beyond": "beyond them",
        "effect": "effect",
        "interval": "95 % interval on these sets",
        "paper": "by the paper's numbers",
    }
    lines = []
    for line in claims_view(document)["lines"]:
        remark = "; ".join(filter(None, [line["scale"], line["remark"]]))
        texts = [line["claim"], *(line["texts"][column] for column in columns), remark]
        lines.append([text.replace("|", "\\|") for text in texts])
    return markdown(["claim of the paper", *columns.values(), "remark"], lines)


# ---- masks


def overlaps_table(runs: pd.DataFrame) -> str:
    """The share of each method's mask that the mask of the initial weights has, too."""
    wide = {kind: scores(runs, kind, "overlap_with_initial_mask") for kind in MAIN_NETWORKS}
    by_chance = {kind: overlaps.assign(chance=1 / RATIO) for kind, overlaps in wide.items()}
    return means_table(by_chance, "omp", "method", LAZY, 2)


def invariance_table(runs: pd.DataFrame) -> str:
    """Cohen's κ of the labels for x and g(x) of untrained networks, mean over the transforms."""
    wide = {}
    for kind, transforms in TRANSFORMS_OF.items():
        measured = [scores(runs, kind, f"consistency_{name}_kappa") for name in transforms]
        wide[kind] = sum(measured) / len(measured)
    return means_table(wide, "iunet_no_prune", "untrained", UNTRAINED, 3)


def means_table(
    wide: dict[str, pd.DataFrame], other: str, title: str, names: dict[str, str], digits: int
) -> str:
    """Means for each kind of data, of the runs that IUNET and the other method have.

    A method that lacks one of these has no mean: it would not compare.
    """
    columns = {}
    for kind, measured in wide.items():
        means = by_dataset(measured.dropna(subset=["iunet", other]).dropna(axis=1))
        columns[data_label(means.index, kind)] = means.mean()
    table = pd.DataFrame(columns).reindex(names).rename(names)
    texts = table.map(f"{{:.{digits}f}}".format, na_action="ignore").fillna(NONE)
    return markdown([title, *columns], texts.reset_index())


def beta_lasso_table(runs: pd.DataFrame) -> str:
    kept = 100 / scores(runs, "tabular", "encoder_compression")[["beta_lasso", "omp", "iunet"]]
    ends = kept.rename(columns=method_label).agg(["min", "max"]).map("{:.1f} %".format).T
    return markdown(["encoder weights kept on tables", "least", "most"], ends.reset_index())


# ---- one setting at a time


def sweeps_tables(runs: pd.DataFrame) -> str:
    """A table for every sweep that was run, on the data sets where it was."""
    tables = []
    for (title, kinds), part in SWEEPS.groupby(["setting", "kinds"], sort=False):
        methods = dict(zip(part["method"], part["value"], strict=True))
        for kind in kinds.split():
            wide = scores(runs, kind).reindex(columns=list(methods))
            own = wide[[m for m in methods if m in SWEPT]].dropna(how="all")
            lines = {"value": methods.values()}
            for dataset in own.index.unique("dataset"):
                of_set = wide.loc[[dataset]]
                lines[dataset_label(dataset)] = [_swept(of_set, method) for method in methods]
            if len(lines) > 1:
                tables.append(markdown([title, *list(lines)[1:]], pd.DataFrame(lines)))
    return "\n\n".join(tables)


def _swept(wide: pd.DataFrame, method: str) -> str:
    """The score, and how far it is from IUNET's on the seeds that both have."""
    values = wide[method].dropna()
    if values.empty:
        return NOT_RUN
    found = effect((values - wide["iunet"]).dropna()) if method != "iunet" else None
    if not found:
        return f"{values.mean():.1f}"
    few = ", one seed" * (len(values) == 1)
    return f"{values.mean():.1f} ({shown(found.mean, found.interval, 1)}{few})"


# ---- the network at the paper's size


def real_size_table(runs: pd.DataFrame) -> str:
    """Every network on all of CIFAR10, beside the paper's table 1."""
    paper = {
        row["method"]: f"{float(row['mean']):.1f}"
        for row in paper_table(1)
        if (row["network"], row["dataset"]) == ("mlp_vis", "cifar10")
    }
    here = runs[(runs["dataset"] == REAL_SIZE) & runs["failed"].isna()]
    lines = []
    for method in method_order(here["method"]):
        for run in here[here["method"] == method].to_dict("records"):
            plain, thinnest = plain_method(method), 100 * min(run["layer_density"] or [1.0])
            lines.append(
                [
                    method_label(plain),
                    "1" if run["cut"] is None else f"{run['ratio']:g}",
                    f"{run['test_accuracy']:.1f}",
                    f"{run['valid_accuracy']:.1f}",
                    f"{thinnest:.3g} %",
                    paper.get(plain, NONE),
                ]
            )
    header = ["α = 8", "r", "test accuracy", "validation", "thinnest layer", "the paper's test"]
    return markdown(header, lines)

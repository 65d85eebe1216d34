"""Our runs beside the paper's table 7: which metric its columns are, and the tuned baselines."""

from __future__ import annotations

import pandas as pd

from iunet.labels import METRIC_LABELS, SCORES, method_label
from iunet.paper import paper_table
from iunet.results.scale import PAPER_TRIALS
from iunet.study.frames import by_dataset, markdown, scores
from iunet.tables.metric_problem import FAMILIES, counts_of_cells
from iunet.tables.verdicts import NOT_RUN

MEAN = ("attainable_as_mean", "equal_class_cells")  # counts of cells
FAR = 3.0  # points between a value of the paper and every metric of ours


def table7_tables(runs: pd.DataFrame) -> dict[str, str]:
    cells, tuned = cells_beside_paper(runs), tuned_cells(runs)
    return {
        "metric of table 7": metric_table(cells),
        "far": far_table(cells, runs),
        "tuned": tuned_table(tuned),
        "tuned means": tuned_means_table(tuned),
    }


def beside_paper(columns: dict[str, pd.Series], methods: list[str]) -> pd.DataFrame:
    """Columns by data set and method, with the paper's value; in the paper's order."""
    paper = pd.DataFrame(paper_table(7)).set_index("dataset").rename(columns={"mlp_tab": "dense"})
    values = paper[methods].astype(float).rename_axis(columns="method").stack()
    return pd.DataFrame({"paper": values, **columns}).reindex(values.index).dropna()


def cells_beside_paper(runs: pd.DataFrame) -> pd.DataFrame:
    """The paper's MLP columns beside our three metrics, by data set and method.

    `swapped` says whether swapped balanced accuracy is nearer to the paper's value than balanced
    accuracy, `gap` how far the nearest of all three is.
    """
    means = {m: by_dataset(scores(runs, "tabular", f"test_{m}")).stack() for m in SCORES}
    cells = beside_paper(means, FAMILIES["mlp_tab"])
    gaps = cells[SCORES].sub(cells["paper"], axis=0).abs()
    swapped = gaps["swapped_balanced_accuracy"] < gaps["balanced_accuracy"]
    return cells.assign(swapped=swapped, gap=gaps.min(axis=1))


def metric_table(cells: pd.DataFrame) -> str:
    """What the paper's own values say of their metric, and our runs beside them."""
    mlp, tuned = counts_of_cells().values()
    counts = {
        "MLP columns, equally frequent classes: a value that a mean of three can take": (mlp, MEAN),
        "XGB, TabNet and MLP+C: the same": (tuned, MEAN),
        "MLP columns: equal to the majority's share of the test set": (mlp, ("majority", "cells")),
    }
    lines = [[text, f"{of[n]} of {of[whole]}"] for text, (of, (n, whole)) in counts.items()]
    nearer = "MLP columns, against our runs: nearer to swapped balanced accuracy than to balanced"
    lines.append([nearer, f"{cells['swapped'].sum()} of {len(cells)}"])
    return markdown(["cells of the paper's table 7", "how many"], lines)


def far_table(cells: pd.DataFrame, runs: pd.DataFrame) -> str:
    """The cells that none of our metrics comes near, also with the other initial weights."""

    def spread(seeds: pd.Series) -> str:
        return f"{seeds.mean():.1f} ± {seeds.std():.1f}" if seeds.count() > 1 else "–"

    wide = [scores(runs, "tabular", f"test_{metric}") for metric in SCORES]
    texts = [metric.groupby("dataset").agg(spread).stack() for metric in wide]
    lines = []
    for (dataset, method), paper in cells[cells["gap"] >= FAR]["paper"].items():
        ours = [text[dataset, method] for text in texts]
        other = [text.get((dataset, f"{method}_he_normal"), "–") for text in texts]
        shown = [dataset, method_label(method), f"{paper:.1f}", *ours]
        lines.append([*shown, " / ".join(other) if "–" not in other else "–"])
    names = [METRIC_LABELS[metric].lower() for metric in SCORES]
    return markdown(["data set", "method", "the paper", *names, "with he_normal"], lines)


def tuned_cells(runs: pd.DataFrame) -> pd.DataFrame:
    """Tuned baselines beside the paper's: our mean on test, trials, the best of them.

    `valid` is the best trial's score on validation: if its refits have far less on test, a part of
    it was luck of the search.
    """
    studies = runs[runs["trials_complete"].notna()].sort_values(["trials_complete", "best_trial"])
    studies = studies.drop_duplicates(["dataset", "method"], keep="last")
    studies = studies.set_index(["dataset", "method"])
    columns = {"ours": by_dataset(scores(runs, "tabular")).stack()}
    columns |= {"trials": studies["trials_complete"], "best": studies["best_trial"]}
    columns["valid"] = studies["valid_balanced_accuracy"]
    return beside_paper(columns, list(PAPER_TRIALS)).astype({"trials": int})


def tuned_table(cells: pd.DataFrame) -> str:
    """Our score on test, its distance from the paper's, the trials, the best of them."""

    def text(cell: pd.Series) -> str:
        distance = cell["ours"] - cell["paper"]
        return f"{cell['ours']:.1f} ({distance:+.1f}), {cell['trials']:.0f}, {cell['valid']:.1f}"

    texts = cells.apply(text, axis=1)
    wide = texts.unstack().reindex(texts.index.unique("dataset"), columns=list(PAPER_TRIALS))
    names = map(method_label, PAPER_TRIALS)
    return markdown(["data set", *names], wide.fillna(NOT_RUN).reset_index())


def tuned_means_table(cells: pd.DataFrame) -> str:
    """Whether more trials might have helped: how late the best one came, and what it was worth."""
    found = cells.assign(
        distance=cells["ours"] - cells["paper"], late=2 * cells["best"] > cells["trials"]
    ).groupby("method")
    means = found[["distance", "valid", "ours"]].mean()
    fewest, most = (found["trials"].agg(end).astype(str) for end in ("min", "max"))
    columns = {
        "method": means.index.map(method_label),
        "ours − the paper's": means["distance"].map("{:+.1f}".format),
        "trials": fewest.where(fewest == most, fewest + " to " + most),
        "the paper's trials": means.index.map(PAPER_TRIALS),
        "best trial in the second half": found["late"].agg(lambda x: f"{x.sum()} of {len(x)}"),
        "best trial, validation": means["valid"].map("{:.1f}".format),
        "refit, test": means["ours"].map("{:.1f}".format),
    }
    return markdown(list(columns), pd.DataFrame(columns, means.index).loc[list(PAPER_TRIALS)])

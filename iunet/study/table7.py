"""Our runs beside the paper's table 7: which metric its columns are, and the tuned baselines."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from iunet.labels import METRIC_LABELS, SCORES, method_label
from iunet.paper import paper_table
from iunet.study.frames import by_dataset, markdown, scores
from iunet.tables.comparisons import PAPER_TRIALS
from iunet.tables.metric_problem import metric_problem
from iunet.tables.verdicts import NOT_RUN

PAPER_COLUMNS = {"dense": "mlp_tab", "omp": "omp", "beta_lasso": "beta_lasso", "iunet": "iunet"}
FAR = 3.0  # points between a value of the paper and every metric of ours


def table7_tables(runs: pd.DataFrame) -> dict[str, str]:
    cells, tuned = cells_beside_paper(runs), tuned_cells(runs)
    return {
        "metric of table 7": metric_table(cells),
        "table 7": table7_table(cells),
        "far": far_table(cells, runs),
        "tuned": tuned_table(tuned),
        "tuned means": tuned_means_table(tuned),
    }


def cells_beside_paper(runs: pd.DataFrame) -> pd.DataFrame:
    """The paper's MLP columns beside our three metrics: a row for each data set and method.

    `nearer` is the nearer one of balanced accuracy and the swapped one, `nearest` that of all
    three; none if two are equally near. If the paper's value lies beyond both, the larger (or
    smaller) is the nearer one whatever the metric was: `between` says whether it does not.
    """
    means = {m: by_dataset(scores(runs, "tabular", f"test_{m}")) for m in SCORES}
    found = []
    for paper in paper_table(7):
        for method, column in PAPER_COLUMNS.items():
            if paper["dataset"] not in means[SCORES[0]][method].dropna():
                continue
            value = float(paper[column])
            ours = {m: float(means[m].loc[paper["dataset"], method]) for m in SCORES}
            gaps = pd.Series({m: abs(mean - value) for m, mean in ours.items()})
            low, high = sorted(ours[m] for m in SCORES[1:])
            cell = {"dataset": paper["dataset"], "method": method, "paper": value, **ours}
            cell |= {"nearer": _smallest(gaps[SCORES[1:]]), "nearest": _smallest(gaps)}
            found.append(cell | {"between": low <= value <= high, "gap": gaps.min()})
    return pd.DataFrame(found)


def _smallest(gaps: pd.Series) -> str | None:
    best = gaps.index[gaps == gaps.min()]
    return best[0] if len(best) == 1 else None


def metric_table(cells: pd.DataFrame) -> str:
    """How many cells speak for which metric, of the paper alone and beside our runs."""
    counts, tuned = (metric_problem()["counts"][columns] for columns in ("mlp_tab", "tuned"))
    n_cells = len(cells)
    lines = [
        [
            "MLP columns, equally frequent classes: a value that a mean of three can take",
            f"{counts['attainable_as_mean']} of {counts['equal_class_cells']}",
        ],
        [
            "XGB, TabNet and MLP+C: the same",
            f"{tuned['attainable_as_mean']} of {tuned['equal_class_cells']}",
        ],
        [
            "MLP columns: equal to the majority's share of the test set",
            f"{counts['majority']} of {counts['cells']}",
        ],
    ]
    for metric in SCORES[1:]:
        near = int((cells["nearer"] == metric).sum())
        lines.append([f"of the two, nearer to our {_name(metric)}", f"{near} of {n_cells}"])
    lines.append(["between these two of ours", f"{int(cells['between'].sum())} of {n_cells}"])
    for metric in SCORES:
        near = int((cells["nearest"] == metric).sum())
        lines.append([f"of the three, nearest to our {_name(metric)}", f"{near} of {n_cells}"])
    lines.append(["equally near to two", f"{int(cells['nearest'].isna().sum())} of {n_cells}"])
    return markdown(["cells of the paper's table 7", "how many"], lines)


def _name(metric: str) -> str:
    return METRIC_LABELS[metric].lower()


def table7_table(cells: pd.DataFrame) -> str:
    """The paper's value: our balanced accuracy / the swapped one, the nearer one bold."""

    def text(cell: pd.Series) -> str:
        ours = [f"**{cell[m]:.1f}**" if cell["nearer"] == m else f"{cell[m]:.1f}" for m in SCORES]
        return f"{cell['paper']:.1f}: {' / '.join(ours[1:])}"

    return _crossed(cells, list(PAPER_COLUMNS), text)


def _crossed(cells: pd.DataFrame, methods: list[str], text: Callable[[pd.Series], str]) -> str:
    """A line for each data set, a column for each method."""
    lines = []
    for dataset, here in cells.groupby("dataset", sort=False):
        shown = {cell["method"]: text(cell) for _, cell in here.iterrows()}
        lines.append([dataset, *(shown.get(method, NOT_RUN) for method in methods)])
    return markdown(["data set", *map(method_label, methods)], lines)


def far_table(cells: pd.DataFrame, runs: pd.DataFrame) -> str:
    """The cells that none of our metrics comes near, also with the other initial weights."""
    wide = {metric: scores(runs, "tabular", f"test_{metric}") for metric in SCORES}

    def spread(method: str, dataset: str, metric: str) -> str:
        of_dataset = wide[metric].loc[dataset]
        values = of_dataset.get(method, pd.Series(dtype=float)).dropna()
        return f"{values.mean():.1f} ± {values.std():.1f}" if len(values) > 1 else "–"

    lines = []
    for _, cell in cells[cells["gap"] >= FAR].iterrows():
        dataset, method = cell["dataset"], cell["method"]
        ours = [spread(method, dataset, metric) for metric in SCORES]
        other = [spread(f"{method}_he_normal", dataset, metric) for metric in SCORES]
        shown = [dataset, method_label(method), f"{cell['paper']:.1f}", *ours]
        lines.append([*shown, " / ".join(other) if "–" not in other else "–"])
    names = [_name(metric) for metric in SCORES]
    return markdown(["data set", "method", "the paper", *names, "with he_normal"], lines)


def tuned_cells(runs: pd.DataFrame) -> pd.DataFrame:
    """Tuned baselines beside the paper's: our mean on test, trials, the best of them.

    `valid` is the best trial's score on validation: if its refits have far less on test, a part of
    it was luck of the search.
    """
    means = by_dataset(scores(runs, "tabular"))
    studies = runs[runs["trials_complete"].notna()].sort_values(["trials_complete", "best_trial"])
    found = []
    for paper in paper_table(7):
        for method in PAPER_TRIALS:
            at = (studies["dataset"] == paper["dataset"]) & (studies["method"] == method)
            if at.any():
                study = studies[at].iloc[-1]
                cell = {"dataset": paper["dataset"], "method": method}
                cell |= {"ours": means.loc[paper["dataset"], method], "paper": float(paper[method])}
                cell |= {"trials": int(study["trials_complete"]), "best": study["best_trial"]}
                found.append(cell | {"valid": study["valid_balanced_accuracy"]})
    return pd.DataFrame(found)


def tuned_table(cells: pd.DataFrame) -> str:
    """Our score on test, its distance from the paper's, the trials, the best of them."""

    def text(cell: pd.Series) -> str:
        distance = cell["ours"] - cell["paper"]
        return f"{cell['ours']:.1f} ({distance:+.1f}), {cell['trials']}, {cell['valid']:.1f}"

    return _crossed(cells, list(PAPER_TRIALS), text)


def tuned_means_table(cells: pd.DataFrame) -> str:
    """Whether more trials might have helped: how late the best one came, and what it was worth."""
    lines = []
    for method in PAPER_TRIALS:
        here = cells[cells["method"] == method]
        fewest, most = here["trials"].min(), here["trials"].max()
        lines.append(
            [
                method_label(method),
                f"{(here['ours'] - here['paper']).mean():+.1f}",
                f"{fewest}" if fewest == most else f"{fewest} to {most}",
                str(PAPER_TRIALS[method]),
                f"{int((2 * here['best'] > here['trials']).sum())} of {len(here)}",
                f"{here['valid'].mean():.1f}",
                f"{here['ours'].mean():.1f}",
            ]
        )
    heads = ["method", "ours − the paper's", "trials", "the paper's trials"]
    heads += ["best trial in the second half", "best trial, validation", "refit, test"]
    return markdown(heads, lines)

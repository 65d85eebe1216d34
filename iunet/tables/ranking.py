"""Critical differences: do the methods really differ over the data sets?

Friedman's test of all methods together (SciPy), then Wilcoxon's signed-rank test of every pair with
Holm's correction (scikit-posthocs), as Benavoli, Corani and Mangili (2016) advise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from iunet.labels import METRIC_LABELS
from iunet.results.collect import Results
from iunet.results.selection import of_results, ranks
from iunet.tables.cells import cell, plain_table
from iunet.tables.document import Cell, TableDocument
from iunet.tables.paper_values import paper_scores
from iunet.tables.table7 import complete_rows, scores_by_method, tabular_label

if TYPE_CHECKING:
    import pandas as pd

ALPHA = 0.05
METRIC = "balanced_accuracy"


@dataclass
class Ranking:
    """`problem` is the reason if there is no test; then there are only ranks, or nothing."""

    n_datasets: int
    ranks: dict[str, float]  # average rank of each method, the best first
    friedman_p: float | None = None
    p_values: dict[str, dict[str, float]] | None = None  # Holm-adjusted, by pair
    cliques: list[list[str]] | None = None  # methods that do not differ significantly
    problem: str | None = None


def critical_difference(scores: pd.DataFrame) -> Ranking:
    """Rank the methods (columns) over the data sets (rows); rows with a gap do not count."""
    complete = complete_rows(scores)
    average = ranks(complete).mean().sort_values(kind="stable")
    result = Ranking(len(complete), average.to_dict() if len(complete) else {})
    if len(complete) < 2 or complete.shape[1] < 3:
        result.problem = (
            f"not enough data: {len(complete)} data sets and {complete.shape[1]} methods, where "
            "the tests need at least 2 and 3"
        )
        return result
    ordered = complete.round(3)[[*average.index]]
    result.friedman_p = _friedman(ordered)
    p_values = _wilcoxon_holm(ordered)
    result.p_values = {a: {b: float(p_values.loc[a, b]) for b in p_values} for a in p_values}
    result.cliques = _cliques(p_values)
    return result


def _friedman(scores: pd.DataFrame) -> float:
    from scipy.stats import friedmanchisquare

    if scores.nunique(axis=1).eq(1).all():
        return 1.0  # all tied: the statistic would be 0/0
    return float(friedmanchisquare(*(scores[m] for m in scores)).pvalue)


def _wilcoxon_holm(scores: pd.DataFrame) -> pd.DataFrame:
    from scikit_posthocs import posthoc_wilcoxon

    # zsplit: ties between two methods speak for both; leaving them out would overstate the rest.
    columns = [scores[method].to_numpy() for method in scores]
    p_values = posthoc_wilcoxon(columns, zero_method="zsplit", p_adjust="holm")
    p_values.index = p_values.columns = list(scores)
    return p_values.clip(upper=1.0)


def _cliques(p_values: pd.DataFrame) -> list[list[str]]:
    """Groups that share a letter of the compact letter display; single methods are no group."""
    from scikit_posthocs import compact_letter_display

    letters = compact_letter_display(p_values, alpha=ALPHA)
    groups: dict[str, list[str]] = {}
    for method, text in letters.items():
        for letter in text.replace(" ", ""):
            groups.setdefault(letter, []).append(method)
    return [group for group in groups.values() if len(group) > 1]


def paper_ranking() -> Ranking:
    """The paper's own table 7, tested as ours is."""
    return critical_difference(paper_scores())


def paper_note() -> str:
    """From which methods the paper's own numbers tell IUNET apart."""
    ranking = paper_ranking()
    rivals: dict[bool, list[str]] = {True: [], False: []}  # by whether they differ
    for other in ranking.ranks:
        if other != "iunet":
            p = ranking.p_values["iunet"][other]
            rivals[p < ALPHA].append(f"{tabular_label(other)} (p = {p:.2g})")
    differ, do_not = (", ".join(rivals[key]) or "none" for key in (True, False))
    return (
        f"The numbers of the paper's own table 7 ({ranking.n_datasets} data sets, columns of two "
        f"metrics) by the same tests: IUNET differs significantly from {differ}; not from {do_not}."
    )


def build(results: Results) -> TableDocument:
    """Average ranks and Holm-adjusted p-values; the diagram is drawn from its `data`."""
    ranking = critical_difference(scores_by_method(of_results(results.runs), METRIC))
    label = {method: tabular_label(method) for method in ranking.ranks}
    lines = {}
    for method, rank in ranking.ranks.items():
        p_values = {other: _p_cell(ranking, method, other) for other in label}
        lines[method] = ([label[method]], {"rank": rank} | p_values)
    return plain_table(
        f"Average ranks by {METRIC_LABELS[METRIC].lower()} over {ranking.n_datasets} data "
        "sets (1 is best), and p-values of Wilcoxon's signed-rank test between pairs of methods, "
        "adjusted by Holm's method.",
        ["Method"],
        {"rank": "Average rank", **label},
        lines,
        [*_notes(ranking, label), paper_note()],
        lower_is_better=["rank"],
        data=vars(ranking),
    )


def _p_cell(ranking: Ranking, method: str, other: str) -> Cell:
    if method != other and ranking.p_values is None:
        return Cell(missing="not enough data")
    return cell(None if method == other else ranking.p_values[method][other])


def _notes(ranking: Ranking, label: dict[str, str]) -> list[str]:
    if ranking.problem:
        return [f"No test: {ranking.problem}."]
    differ = "differ" if ranking.friedman_p < ALPHA else "do not differ significantly"
    notes = [f"Friedman's test: p = {ranking.friedman_p:.3g}; the methods {differ} (at {ALPHA})."]
    groups = ["{" + ", ".join(label[m] for m in group) + "}" for group in ranking.cliques]
    found = ", ".join(groups) if groups else "none, every pair differs"
    notes.append(f"Groups of methods without a significant difference: {found}.")
    if (smallest := smallest_p(ranking.n_datasets, len(ranking.ranks))) >= ALPHA:
        notes.append(
            f"With {ranking.n_datasets} data sets no pair of {len(ranking.ranks)} methods can "
            f"differ significantly: its p-value is at least {smallest:.2g}, whatever the scores."
        )
    return notes


def smallest_p(n_datasets: int, n_methods: int) -> float:
    """Of Wilcoxon's exact test where one method always wins, after Holm's correction."""
    pairs = n_methods * (n_methods - 1) // 2
    return min(1.0, pairs * 2.0 ** (1 - n_datasets))

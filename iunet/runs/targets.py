"""Targets that no rule makes: what is near them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from iunet.errors import nearest
from iunet.runs import paths
from iunet.runs.entries import Benchmark

FORMS = {paths.TABLE: ("csv", "md", "tex", "html", "json"), paths.FIGURE: ("png", "pdf", "csv")}


def explain_target(
    target: str,
    bench: Benchmark,
    rules: Iterable[str],
    tables: Iterable[str],
    figures: Iterable[str],
) -> str:
    """One paragraph for a target that cannot be made; `rules` are those that can be asked for."""
    rules = sorted(rules)
    shown = [
        bench.path(f"{template}.{form}", table=name, figure=name)
        for template, names in ((paths.TABLE, tables), (paths.FIGURE, figures))
        for name in names
        for form in FORMS[template]
    ]
    near = nearest(target, [*rules, *shown, bench.path(paths.PAGE), *_files(bench)])
    example = bench.path(f"{paths.TABLE}.csv", table="table1")
    return (
        f"No rule makes the target '{target}'.{near} Targets are the rules {', '.join(rules)}, and "
        f"files below '{bench.root}' (the config key 'results'), such as {example}."
    )


def _files(bench: Benchmark) -> Iterator[str]:
    """Files of data sets, and the results of all runs."""
    for dataset in bench.registry:
        for template in (paths.DATA_REPORT, paths.SPLIT_REPORT):
            yield bench.path(template, dataset=dataset)
    for cell in bench.cells:
        yield from bench.results_of(cell)

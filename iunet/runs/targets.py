"""What may be asked for by its path: the runs that a config could have, and no others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from iunet.data.registry import Dataset
from iunet.errors import UserError, nearest
from iunet.runs import paths
from iunet.runs.entries import Benchmark
from iunet.runs.methods import config_with_row, resolve_row, row_of_path
from iunet.runs.names import SupernetName, base_network
from iunet.runs.schema import check_schema
from iunet.runs.settings import Config, network_kind

FORMS = {paths.TABLE: ("csv", "md", "tex", "html", "json"), paths.FIGURE: ("png", "pdf", "csv")}


def check_targets(bench: Benchmark, words: Iterable[str], shown: dict[str, Iterable[str]]) -> None:
    """Refuse a file below the folder of results that no rule makes, and name what is near it.

    `words` are those of the command line; `shown` has the names of all tables and figures.
    """
    known = {
        "table": shown["tables"],
        "figure": shown["figures"],
        "dataset": bench.registry,
        "method": bench.config["methods"],
    }
    for word in words:
        inside = word.startswith(f"{bench.root}/") and not Path(word).exists()
        if inside and Path(word).suffix and not _is_made(word, known):
            raise UserError(explain_target(word, bench, shown))


def _is_made(target: str, known: dict[str, Iterable[str]]) -> bool:
    """Whether a rule makes a file of this form, with names that there are."""
    for template in (template for made in paths.OUTPUTS.values() for template in made):
        if found := paths.pattern(template).search(target):
            named = found.groupdict()
            return all(named[key] in names for key, names in known.items() if key in named)
    return False


def explain_target(target: str, bench: Benchmark, shown: dict[str, Iterable[str]]) -> str:
    """One paragraph for a target that cannot be made."""
    files = [
        bench.path(f"{template}.{form}", table=name, figure=name)
        for template, names in ((paths.TABLE, shown["tables"]), (paths.FIGURE, shown["figures"]))
        for name in names
        for form in FORMS[template]
    ]
    near = nearest(target, [*files, bench.path(paths.PAGE), *_files(bench)])
    example = bench.path(f"{paths.TABLE}.csv", table="table1")
    return (
        f"No rule makes '{target}'.{near} Targets are rules (`snakemake --list`), and files below "
        f"'{bench.root}' (the config key 'results'), such as {example}."
    )


def _files(bench: Benchmark) -> Iterator[str]:
    """Files of data sets, and the results of all runs."""
    for dataset in bench.registry:
        for template in (paths.DATA_REPORT, paths.SPLIT_REPORT):
            yield bench.path(template, dataset=dataset)
    for cell in bench.cells:
        yield from bench.results_of(cell)


# ---- paths of runs


def check_run(bench: Benchmark, point: dict[str, str]) -> None:
    """Refuse the path of a run that the config could not have; `point` are a job's wildcards."""
    run = point.get("supernet") or point.get("dense")
    if "seed" not in point or not (run or "learner" in point):
        return
    if "learner" in point:
        check_seed(bench.config, point["seed"], f"The path of {point['learner']}")
        return
    cut = point["cut"] + point.get("options", "") if "cut" in point else None
    known = (point["dataset"], point["network"], run, cut) in bench.runs
    if not known or int(point["seed"]) not in bench.seeds:
        dataset = bench.registry[point["dataset"]]
        check_run_path(bench.config, dataset, point["network"], point["seed"], run, cut)


def check_run_path(
    config: Config, dataset: Dataset, network: str, seed: str, run: str, cut: str | None
) -> None:
    """Refuse the path of a run with values that a row of the config could not have.

    `run` is the name of a supernet or dense network. Each run has one path, so a value that is
    written otherwise is refused too.
    """
    parts = (dataset.name, network, run, f"seed{seed}", cut)
    path = f"The path runs/{'/'.join(part for part in parts if part)}"
    kind = network_kind(network)
    if kind != dataset.kind:
        raise UserError(
            f"{path}: {network} is for {kind} data, but '{dataset.name}' is a {dataset.kind} data "
            "set."
        )
    check_seed(config, seed, path)
    try:
        row = row_of_path(config, network, run, cut)
        changed = {**config, "methods": {**config["methods"], "path": row}}
        if row.get("recipe") == "beta_lasso":
            l1 = SupernetName.parse(run).l1
            changed["beta_lasso"] = {**config["beta_lasso"], "l1": [l1]}
        method = resolve_row(changed, "path", row, base_network(network))
    except UserError as error:
        raise UserError(f"{path}: {error}") from None
    where = f"{path} asks for what the config could not have. "
    check_schema(changed, where)
    check_schema(config_with_row(changed, row, base_network(network)), where)
    expected = (method.network, method.supernets[0], *(method.cuts if cut else ()))
    if expected != (network, run, *((cut,) if cut else ())):
        raise UserError(
            f"{path} is not how that run is written: each run has one path, and this one's is "
            f"runs/{dataset.name}/{expected[0]}/{expected[1]}/seed{int(seed)}"
            f"{'/' + expected[2] if cut else ''}."
        )


def check_seed(config: Config, seed: str, path: str) -> None:
    if seed in map(str, config["seeds"]):
        return
    check_schema({**config, "seeds": [int(seed)]}, f"{path}: ")
    if str(int(seed)) != seed:
        raise UserError(f"{path}: the seed is written seed{int(seed)}, without zeros before it.")

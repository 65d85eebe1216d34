"""What may be asked for by its path: the runs that a config could have, and no others."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from iunet.data.registry import Dataset
from iunet.errors import UserError, nearest
from iunet.method.catalog import LASSO
from iunet.runs import paths
from iunet.runs.entries import Benchmark
from iunet.runs.methods import config_with_row, resolve_row
from iunet.runs.names import (
    WORDS,
    CutName,
    DenseName,
    SupernetName,
    base_network,
    network_variant,
    parse_changes,
)
from iunet.runs.schema import check_schema
from iunet.runs.settings import OFF, Config, augment_defaults, network_kind, without_off


def check_targets(bench: Benchmark, words: Iterable[str], shown: dict[str, Iterable[str]]) -> None:
    """Refuse a file below the folder of results that no rule makes, or of a run that cannot be.

    `words` are those of the command line; `shown` has the names of all tables and figures.
    """
    known = {
        "table": shown["tables"],
        "figure": shown["figures"],
        "dataset": bench.registry,
        "method": bench.config["methods"],
    }
    for word in words:
        if word.startswith(f"{bench.root}/") and Path(word).suffix and not Path(word).exists():
            made = paths.rule_of(word)
            if made is None or any(
                made[1][key] not in names for key, names in known.items() if key in made[1]
            ):
                example = bench.path(f"{paths.TABLE}.csv", table="table1")
                raise UserError(
                    f"No rule makes '{word}'.{nearest(word, _files(bench, shown))} Targets are "
                    f"rules (`snakemake --list`), and files below '{bench.root}' (the config key "
                    f"'results'), such as {example}."
                )
            check_run(bench, made[1])


def _files(bench: Benchmark, shown: dict[str, Iterable[str]]) -> list[str]:
    """Files that may be asked for: tables, figures, data sets, and the results of all runs."""
    named = (("table", shown["tables"]), ("figure", shown["figures"]))
    files = [
        bench.path(template, **{kind: name})
        for kind, names in named
        for name in names
        for template in paths.OUTPUTS[kind]
    ]
    reports = (paths.DATA_REPORT, paths.SPLIT_REPORT)
    files += [bench.path(report, dataset=name) for name in bench.registry for report in reports]
    results = [path for cell in bench.cells for path in bench.results_of(cell)]
    return [*files, bench.path(paths.PAGE), *results]


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


def row_of_path(config: Config, network: str, run: str, cut: str | None) -> dict[str, Any]:
    """The row of `methods` that a path would come from; `run` is a supernet's or dense's name."""
    row: dict[str, Any] = {"network": parse_changes(network_variant(network))}
    options: dict[str, Any] = {}
    if run.startswith("dense"):
        name = DenseName.parse(run)
        row["recipe"] = "dense"
        options = parse_changes(name.options)
    else:
        name = SupernetName.parse(run)
        known = augment_defaults(config, network_kind(network))
        changes = parse_changes(name.variant)
        transforms = {key: changes.pop(key) for key in list(changes) if key in known}
        row |= {"augment": transforms, "supernet": changes}
        if name.objective == LASSO:
            row["recipe"] = "beta_lasso"
        else:
            row |= {"kappa": name.kappa, "objective": name.objective, "prune": cut is not None}
    if cut is not None:
        parsed = CutName.parse(cut)
        options = parse_changes(parsed.options)
        row |= {} if parsed.ratio is None else {"ratios": [parsed.ratio]}
        row |= without_off("cut", {key: getattr(parsed, key) for key in OFF["cut"]})
    for place in (row.get("supernet", {}), options):
        for key, words in WORDS.items():
            if key in place:
                word = place.pop(key)
                row[key] = next(value for value, in_path in words.items() if in_path == word)
    row["finetune"] = options
    if name.init:
        row["init"] = name.init.removeprefix("-")
    return {key: value for key, value in row.items() if value != {}}

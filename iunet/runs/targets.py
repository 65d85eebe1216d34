"""Which paths may be asked for: the runs that a config could have, and no others."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from iunet.errors import UserError, nearest
from iunet.method.catalog import LASSO
from iunet.runs import paths
from iunet.runs.entries import Benchmark
from iunet.runs.methods import config_with_row, resolve_method
from iunet.runs.names import (
    DENSE,
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

NAMES = {"dataset": "data set"}  # of what paths name, where it is not the wildcard's


def check_targets(bench: Benchmark, words: Iterable[str], shown: dict[str, Iterable[str]]) -> None:
    """Refuse a file below the folder of results that no rule makes, or of a run that cannot be.

    `words` are those of the command line; `shown` has the names of every `table` and `figure`.
    """
    known = shown | {"dataset": bench.registry, "method": bench.config["methods"]}
    for word in words:
        if word.startswith(f"{bench.root}/") and Path(word).suffix and not Path(word).exists():
            _refuse_of_another_config(bench.root, word)
            folder = word.removeprefix(f"{bench.root}/").partition("/")[0]
            made = paths.rule_of(word) if folder in paths.FOLDERS else None
            if made is None:
                example = bench.path(f"{paths.TABLE}.csv", table="table1")
                raise UserError(
                    f"No rule makes '{word}'.{nearest(word, _files(bench, shown))} Targets are "
                    f"rules (`snakemake --list`), and files below '{bench.root}' (the config key "
                    f"'results'), such as {example}."
                )
            for kind, names in known.items():
                if (name := made[1].get(kind)) and name not in names:
                    raise UserError(
                        f"'{word}': this config has no {NAMES.get(kind, kind)} '{name}'."
                        f"{nearest(name, names)}"
                    )
            check_run(bench, made[1])


def _refuse_of_another_config(root: str, word: str) -> None:
    """The file of a folder of results that another file in config/ names."""
    for file in sorted(Path("config").glob("*.yaml")):
        found = re.search(r"^results: *(\S+)", file.read_text(encoding="utf-8"), re.MULTILINE)
        if found and found[1].startswith(f"{root}/") and word.startswith(f"{found[1]}/"):
            own = file.name.startswith("own-")
            option = "--config own=<your file>" if own else f"--configfile {file}"
            raise UserError(f"'{word}' is a result of another config. Add {option} to the command.")


def _files(bench: Benchmark, shown: dict[str, Iterable[str]]) -> list[str]:
    """Files that may be asked for: tables, figures, data sets, and the results of all runs."""
    files = [
        bench.path(template, **{kind: name})
        for kind, names in shown.items()
        for name in names
        for template in paths.OUTPUTS[kind]
    ]
    reports = (paths.DATA_REPORT, paths.SPLIT_REPORT)
    files += [bench.path(report, dataset=name) for name in bench.registry for report in reports]
    results = [path for cell in bench.cells for path in bench.results_of(cell)]
    return [*files, bench.path(paths.PAGE), *results]


# ---- paths of runs


def check_run(bench: Benchmark, point: dict[str, str]) -> None:
    """Refuse the path of a run that the config could not have; `point` are a job's wildcards.

    Each run has one path, so a value that is written otherwise is refused too.
    """
    run = point.get("supernet") or point.get("dense")
    if "seed" not in point or not (run or "learner" in point):
        return
    config, dataset, seed = bench.config, point["dataset"], point["seed"]
    network = point.get("network") or point["learner"]
    cut = point["cut"] + point.get("options", "") if "cut" in point else None
    parts = [part for part in (dataset, network, run, f"seed{seed}", cut) if part]
    path = f"The path runs/{'/'.join(parts)}"
    if seed not in map(str, bench.seeds):
        check_schema({**config, "seeds": [int(seed)]}, f"{path}: ")
        if str(int(seed)) != seed:
            raise UserError(f"{path}: write seed{int(seed)}, without leading zeros.")
    if run is None or (dataset, network, run, cut) in bench.runs:
        return
    kind, wanted = bench.registry[dataset].kind, network_kind(network)
    if kind != wanted:
        raise UserError(
            f"{path}: {network} is for {wanted} data, but '{dataset}' is a {kind} data set."
        )
    try:
        row = row_of_path(config, network, run, cut)
        changed = {**config, "methods": {**config["methods"], "path": row}}
        if row.get("recipe") == "beta_lasso":
            l1 = SupernetName.parse(run).l1
            changed["beta_lasso"] = {**config["beta_lasso"], "l1": [l1]}
        method = resolve_method(changed, "path", base_network(network))
    except UserError as error:
        raise UserError(f"{path}: {error}") from None
    changed = config_with_row(changed, row, base_network(network))
    check_schema(changed, f"{path} asks for settings that no config may have. ")
    one = [dataset, method.network, method.supernets[0], f"seed{seed}"]
    one += method.cuts if cut else ()
    if parts != one:
        raise UserError(
            f"{path} is not how that run is spelled. Each run has exactly one path: use "
            f"runs/{'/'.join(one)}."
        )


def row_of_path(config: Config, network: str, run: str, cut: str | None) -> dict[str, Any]:
    """The row of `methods` that a path would come from; `run` is a supernet's or dense's name."""
    row: dict[str, Any] = {"network": parse_changes(network_variant(network))}
    if run.startswith(DENSE):
        name = DenseName.parse(run)
        row["recipe"] = "dense"
        supernet, options = {}, parse_changes(name.options)
    else:
        name = SupernetName.parse(run)
        supernet, options = parse_changes(name.variant), {}
        if name.objective == LASSO:
            row["recipe"] = "beta_lasso"
        else:
            row |= {"kappa": name.kappa, "objective": name.objective, "prune": cut is not None}
    if cut:
        parsed = CutName.parse(cut)
        options = parse_changes(parsed.options)
        row |= {} if parsed.ratio is None else {"ratios": [parsed.ratio]}
        row |= without_off("cut", {key: getattr(parsed, key) for key in OFF["cut"]})
    for key, word in (supernet | options).items():
        if key in WORDS:
            row[key] = next(value for value, in_path in WORDS[key].items() if in_path == word)
    known = augment_defaults(config, network_kind(network))
    row["augment"] = {key: value for key, value in supernet.items() if key in known}
    row["supernet"] = {k: v for k, v in supernet.items() if k not in (*known, *WORDS)}
    transforms = config["augment"][network_kind(network)]
    row["finetune"] = {k: v for k, v in options.items() if k not in (*transforms, *WORDS)}
    if augment := {k: v for k, v in options.items() if k in transforms}:
        only = [k for k, v in augment.items() if v is True]
        row["finetune"]["augment"] = {"only": only} if only else augment
    row["init"] = name.init.removeprefix("-")
    return {key: value for key, value in row.items() if value not in ("", {})}

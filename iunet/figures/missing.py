"""How a figure names its runs, those that it lacks, and those that are cut off."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from iunet.labels import dataset_label, method_label, method_order, network_label

Run = tuple[str, str | None]  # a method and its network, which tuned methods may lack


def run_names(rows: list[dict[str, Any]]) -> dict[Run, str]:
    """The methods in their order; the network is named where a method has several."""
    networks: dict[str, list[str | None]] = defaultdict(list)
    for row in rows:
        if row["network"] not in networks[row["method"]]:
            networks[row["method"]].append(row["network"])
    names = {}
    for method in method_order(networks):
        for network in networks[method]:
            name = method_label(method, network)
            if len(networks[method]) > 1 and network and method != "dense":
                name = f"{name} on {network_label(network)}"
            names[method, network] = name
    return names


def missing_note(rows: list[dict[str, Any]]) -> list[str]:
    """One sentence with every missing run, grouped by data set and reason; none if all are there.

    Rows have dataset, network, method, seed and missing.
    """
    names = run_names(rows)
    asked: dict[str, set[tuple]] = defaultdict(set)
    groups: dict[tuple[str, str], dict[tuple, None]] = defaultdict(dict)
    for row in rows:
        run = ((row["method"], row["network"]), row["seed"])
        asked[row["dataset"]].add(run)
        if row["missing"]:
            groups[row["dataset"], row["missing"]][run] = None
    texts = []
    for (dataset, reason), runs in groups.items():
        which = "all runs" if set(runs) == asked[dataset] else _with_seeds(runs, names)
        texts.append(f"{dataset_label(dataset)}, {which}: {reason}")
    return [f"Missing: {'; '.join(texts)}."] * bool(texts)


def disconnected_note(rows: list[dict[str, Any]]) -> list[str]:
    """One sentence with every run whose network has a layer without any weight."""
    names = run_names(rows)
    found: dict[str, dict[tuple, None]] = defaultdict(dict)
    for row in rows:
        if row["disconnected"]:
            found[row["dataset"]][(row["method"], row["network"]), row["seed"]] = None
    texts = [f"{dataset_label(d)}, {_with_seeds(runs, names)}" for d, runs in found.items()]
    return [f"Disconnected: {'; '.join(texts)}."] * bool(texts)


def _with_seeds(runs: dict[tuple, None], names: dict[Run, str]) -> str:
    """'OMP (seeds 0, 1), IUNET (seed 1)'."""
    seeds: dict[Run, list[str]] = defaultdict(list)
    for run, seed in runs:
        seeds[run].append(str(seed))
    return ", ".join(
        f"{names[run]} (seed{'s' * (len(of_run) > 1)} {', '.join(of_run)})"
        for run, of_run in seeds.items()
    )

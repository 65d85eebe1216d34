"""A trained, pruned network as it is shipped: all that prediction needs, and nothing of training.

model = read_run("results/runs/vehicle/mlp_tab/kappa0.25-ilo/seed0/ratio8")
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from iunet.artifacts import read_arrays, read_json, read_provenance
from iunet.errors import UserError
from iunet.runs import paths
from iunet.runs.names import CutName, DenseName, SupernetName


@dataclass(frozen=True)
class PrunedModel:
    """The members of an ensemble (one without snapshots), their mask, and the way in and out."""

    preprocessing: dict[str, Any]  # of a split's preprocessing.json, with its `kind`
    network: dict[str, Any]  # of a NetworkSpec: name, n_classes, n_inputs, options, …
    members: list[dict[str, np.ndarray]]  # the whole state, pruned weights as zeros
    masks: dict[str, np.ndarray]  # by weight, True is kept; {} if nothing is pruned
    classes: list[Any]  # labels in the order of the network's outputs: text, whole numbers, bools
    origin: dict[str, Any] = field(default_factory=dict)  # whose it is, for people: a run, a fit


def in_label_order(model: PrunedModel) -> PrunedModel:
    """The same model with its outputs in the sorted order of their labels, as scikit-learn's."""
    order = np.argsort(np.array(model.classes))
    decoder = ("decoder.weight", "decoder.bias")
    members = [
        {name: array[order] if name in decoder else array for name, array in member.items()}
        for member in model.members
    ]
    return replace(model, members=members, classes=[model.classes[i] for i in order])


def read_run(folder: str | Path) -> PrunedModel:
    """The network of a finished run of the workflow: a subnetwork's folder, or a dense one's."""
    folder = Path(folder).resolve()
    if (folder / _name(paths.SUBNETWORK_WEIGHTS)).is_file():
        return _read(_Run.of_subnetwork(folder))
    if (folder / _name(paths.DENSE_WEIGHTS)).is_file():
        return _read(_Run.of_dense(folder))
    raise UserError(
        f"{folder} is no folder of a fine-tuned or dense network: it holds neither "
        f"{_name(paths.SUBNETWORK_WEIGHTS)} nor {_name(paths.DENSE_WEIGHTS)}. Name a folder like "
        "results/runs/vehicle/mlp_tab/kappa0.25-ilo/seed0/ratio8, which `snakemake` makes if it is "
        "asked for finetune.json in it."
    )


@dataclass(frozen=True)
class _Run:
    """A run's coordinates, read from its path, and its files."""

    root: str
    values: dict[str, str]  # of the wildcards in `paths`
    weights: str
    masked: bool

    @classmethod
    def of_subnetwork(cls, folder: Path) -> _Run:
        cut, supernet = CutName.parse(folder.name), SupernetName.parse(folder.parents[1].name)
        values = {"supernet": str(supernet), "initial": supernet.initial}
        values |= {"cut": cut.folder, "options": cut.options}
        return cls._of(folder.parent, values, paths.SUBNETWORK_WEIGHTS)

    @classmethod
    def of_dense(cls, folder: Path) -> _Run:
        dense = DenseName.parse(folder.parent.name)
        values = {"dense": str(dense), "initial": dense.initial}
        return cls._of(folder, values, paths.DENSE_WEIGHTS)

    @classmethod
    def _of(cls, seed: Path, values: dict[str, str], weights: str) -> _Run:
        network, dataset, runs, root = seed.parents[1:5]
        if runs.name != "runs" or not seed.name.startswith("seed"):
            raise UserError(
                f"{seed} does not lie in a folder of results: the form is "
                "results/runs/<dataset>/<network>/<supernet>/seed0."
            )
        values |= {"seed": seed.name.removeprefix("seed")}
        values |= {"network": network.name, "dataset": dataset.name}
        return cls(str(root), values, weights, "cut" in values)

    def path(self, path: str) -> str:
        return paths.fill(path, self.root, **self.values)


def _read(run: _Run) -> PrunedModel:
    from iunet.method.masks import expand_weights, read_masks
    from iunet.training.members import split_members

    files = [run.weights, paths.INITIAL_REPORT, paths.PREPROCESSING, paths.SPLIT_REPORT]
    files += [paths.MASK, paths.MASK_REPORT] if run.masked else []
    for file in files:
        _refuse_foreign(run, run.path(file))
    stored = read_arrays(run.path(run.weights))
    if not stored:
        raise UserError(
            f"{run.path(run.weights)} holds no weights: the run failed, as the JSON beside it says."
        )
    masks = {}
    if run.masked:
        masks = read_masks(run.path(paths.MASK), run.path(paths.MASK_REPORT))
    split = read_json(run.path(paths.SPLIT_REPORT))
    return PrunedModel(
        preprocessing=read_json(run.path(paths.PREPROCESSING)),
        network=read_json(run.path(paths.INITIAL_REPORT))["network"],
        members=[expand_weights(member, masks) for member in split_members(stored)],
        masks=masks,
        classes=[entry["name"] for entry in split["classes"]],
        origin={key: value for key, value in sorted(run.values.items()) if value},
    )


def _refuse_foreign(run: _Run, path: str) -> None:
    """A file that was copied from another run would fit, and predict nonsense."""
    said = read_provenance(path) or {}
    for key, value in said.get("wildcards", {}).items():
        if run.values.get(key, value) != value:
            raise UserError(
                f"{path} is of another run: {key}: expected '{run.values[key]}', found '{value}'. "
                "Delete it and run the workflow again to make it anew."
            )


def _name(path: str) -> str:
    return path.rpartition("/")[2]

"""A trained, pruned network as it is shipped, and the one file in which it is saved.

    model = read_run("results/runs/vehicle/mlp_tab/kappa0.25-ilo/seed0/ratio8")
    write_model("model.safetensors", model)

The file is an artifact (iunet/artifacts.py): the kept weights of every member, one bit per weight
for the mask that they share, everything else as JSON in its header, all under checksums. Reading it
parses numbers and JSON, and executes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from iunet import __version__
from iunet.artifacts import (
    AGAIN,
    read_arrays,
    read_arrays_and_metadata,
    read_json,
    read_provenance,
    write_arrays,
)
from iunet.errors import UserError, one_line
from iunet.method.masks import expand_weights, pack_masks, read_masks, unpack_masks
from iunet.runs import paths
from iunet.runs.names import CutName, DenseName, SupernetName

if TYPE_CHECKING:
    from iunet.networks.network import Network

Arrays = dict[str, np.ndarray]
FORMAT, VERSION = "iunet model", 1


@dataclass(frozen=True)
class PrunedModel:
    """The members of an ensemble (one without snapshots), their mask, and the way in and out."""

    preprocessing: dict[str, Any]  # of a split's preprocessing.json, with its `kind`
    network: dict[str, Any]  # of a NetworkSpec: name, n_classes, n_inputs, options, …
    members: list[Arrays]  # of pruned layers only what is kept
    masks: Arrays  # by weight, True is kept; {} if nothing is pruned
    classes: list[Any]  # labels in the order of the network's outputs: text, numbers, bools
    origin: dict[str, Any] = field(default_factory=dict)  # the run or fit it is of, for people

    def states(self) -> list[Arrays]:
        """All weights of each member, the pruned ones as zeros."""
        return [expand_weights(member, self.masks) for member in self.members]

    def networks(self) -> list[Network]:
        """A network for each member, ready to predict."""
        import torch

        networks = []
        for state in self.states():
            network = empty_network(self.network)
            tensors = {name: torch.from_numpy(array) for name, array in state.items()}
            network.load_state_dict(tensors, assign=True)
            networks.append(network.eval())
        return networks

    def sizes(self) -> dict[str, Any]:
        """Parameters and operations, dense and pruned."""
        from iunet.evaluation.sizes import sizes
        from iunet.networks.network import NetworkSpec

        kept = {name: int(mask.sum()) for name, mask in self.masks.items()}
        spec = NetworkSpec(**self.network)
        return sizes(empty_network(self.network), spec, kept, len(self.members))


def empty_network(network: dict[str, Any]) -> Network:
    """A network without memory for its weights: no random number is drawn for them."""
    import torch

    from iunet.networks.network import NetworkSpec, build_network

    with torch.device("meta"):
        return build_network(NetworkSpec(**network))


def in_label_order(model: PrunedModel) -> PrunedModel:
    """The same model with its outputs in the sorted order of their labels, as scikit-learn's."""
    order = np.argsort(np.array(model.classes))
    decoder = ("decoder.weight", "decoder.bias")
    members = [
        {name: array[order] if name in decoder else array for name, array in member.items()}
        for member in model.members
    ]
    return replace(model, members=members, classes=[model.classes[i] for i in order])


# ---- the file


def write_model(
    path: str | Path, model: PrunedModel, classifier: dict[str, Any] | None = None
) -> None:
    """Write a model; `classifier` is what a fitted IUNetClassifier knows beside it."""
    arrays = {f"mask/{name}": bits for name, bits in pack_masks(model.masks).items()}
    for i, member in enumerate(model.members):
        arrays |= {f"{i}/{name}": array for name, array in member.items()}
    content = {
        "preprocessing": model.preprocessing,
        "network": model.network,
        "shapes": {name: list(mask.shape) for name, mask in model.masks.items()},
        "classes": model.classes,
        "origin": model.origin,
    }
    about = {"format": FORMAT, "version": VERSION, "model": content, "classifier": classifier}
    try:
        write_arrays(path, arrays, **about)
    except OSError as error:
        raise UserError(f"The model cannot be written to {path} ({one_line(error)}).") from error


def read_model(path: str | Path) -> tuple[PrunedModel, dict[str, Any] | None]:
    """The model of a file, and what a classifier knew beside it; a damaged file is refused."""
    if not Path(path).is_file():
        raise UserError(f"{path} is no saved model: there is no such file.")
    try:
        arrays, about = read_arrays_and_metadata(path)
    except UserError as error:  # it speaks of artifacts of the workflow
        text = str(error).replace(AGAIN, "If it was a model, get it again from where it was made.")
        raise UserError(text) from error
    if about.get("format") != FORMAT or set(about) != {"format", "version", "model", "classifier"}:
        raise UserError(f"{path} is no saved model: its header does not say so.")
    if about["version"] != VERSION:
        raise UserError(
            f"{path} has version {about['version']} of the format, but iunet {__version__} reads "
            f"version {VERSION}. Use the iunet that wrote it, or save the model again."
        )
    try:
        return _model_of(arrays, about["model"]), about["classifier"]
    except (KeyError, ValueError, TypeError, IndexError, AttributeError) as error:
        raise UserError(
            f"{path} is no saved model: its parts do not fit together ({one_line(error)})."
        ) from error


def _model_of(arrays: Arrays, content: dict[str, Any]) -> PrunedModel:
    from iunet.training.members import split_members

    bits = {k.removeprefix("mask/"): a for k, a in arrays.items() if k.startswith("mask/")}
    members = split_members({k: a for k, a in arrays.items() if not k.startswith("mask/")})
    masks = unpack_masks(bits, content["shapes"])
    about = {name: content[name] for name in ("preprocessing", "network", "classes", "origin")}
    model = PrunedModel(members=members, masks=masks, **about)
    expected = {k: tuple(v.shape) for k, v in empty_network(model.network).state_dict().items()}
    for state in model.states():
        if {name: array.shape for name, array in state.items()} != expected:
            raise ValueError("the weights are not those of the network")
    if len(model.classes) != model.network["n_classes"]:
        raise ValueError("there is not a label for every output")
    return model


# ---- runs of the workflow


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
        members=split_members(stored),
        masks=masks,
        classes=[entry["name"] for entry in split["classes"]],
        origin={key: value for key, value in sorted(run.values.items()) if value},
    )


def _refuse_foreign(run: _Run, path: str) -> None:
    """A file that was copied from another run would fit, and predict nonsense."""
    provenance = read_provenance(path) or {}
    for key, value in provenance.get("wildcards", {}).items():
        if run.values.get(key, value) != value:
            raise UserError(
                f"{path} belongs to a different run: {key} is '{value}', not "
                f"'{run.values[key]}'. "
                "Delete it and run the workflow again to make it anew."
            )


def _name(path: str) -> str:
    return path.rpartition("/")[2]

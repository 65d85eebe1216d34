"""A trained, pruned network for use elsewhere, and the file that holds it.

The file is an artifact (iunet/artifacts.py): the kept weights of every member, one bit per weight
for their common mask, and everything else as JSON in the header, all with checksums. Reading it
parses numbers and JSON, and executes nothing.
"""

from __future__ import annotations

import itertools
import math
import os
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from iunet import __version__
from iunet.artifacts import AGAIN, read_arrays_and_metadata, write_arrays
from iunet.errors import UserError, one_line
from iunet.evaluation.sizes import sizes
from iunet.method.masks import expand_weights, pack_masks, unpack_masks
from iunet.networks.folded import Layer, fold_batchnorm
from iunet.networks.network import Network, NetworkSpec, build_network
from iunet.training.members import split_members

Arrays = dict[str, np.ndarray]
FORMAT, VERSION = "iunet model", 2
IN_HEADER = ("preprocessing", "network", "classes", "origin", "classifier")  # of a PrunedModel


@dataclass(frozen=True)
class PrunedModel:
    """The members of an ensemble, their mask, and how rows become inputs and outputs labels."""

    preprocessing: dict[str, Any]  # of a split's preprocessing.json, with its `kind`
    network: dict[str, Any]  # of a NetworkSpec: name, n_classes, n_inputs, options, …
    members: list[Arrays]  # pruned layers have only their kept weights; one without snapshots
    masks: Arrays  # by weight, True where kept; {} if nothing is pruned
    classes: list[Any]  # labels in the order of the network's outputs: text, numbers, bools
    origin: dict[str, Any] = field(default_factory=dict)  # the run or fit, for people
    classifier: dict[str, Any] | None = None  # what else a fitted IUNetClassifier needs

    def states(self) -> list[Arrays]:
        """All weights of each member, with zeros for the pruned ones."""
        return [expand_weights(member, self.masks) for member in self.members]

    def networks(self) -> list[Network]:
        """A network for each member, ready to predict."""
        networks = []
        for state in self.states():
            network = empty_network(self.network)
            tensors = {name: torch.from_numpy(array) for name, array in state.items()}
            network.load_state_dict(tensors, assign=True)
            networks.append(network.eval())
        return networks

    def probabilities(self, inputs: np.ndarray) -> np.ndarray:
        """The mean softmax of the members for the network's inputs, without folding."""
        shape = NetworkSpec(**self.network).input_shape()
        x = torch.from_numpy(inputs).reshape(len(inputs), *shape)
        with torch.no_grad():
            softmaxes = [network(x).softmax(dim=1) for network in self.networks()]
            return (sum(softmaxes) / len(softmaxes)).numpy()

    def sizes(self) -> dict[str, Any]:
        """Parameters and operations, dense and pruned."""
        return sizes(NetworkSpec(**self.network), self.masks, len(self.members))


def empty_network(network: dict[str, Any]) -> Network:
    """A network without memory for its weights; draws no random numbers."""
    with torch.device("meta"):
        return build_network(NetworkSpec(**network))


def in_label_order(model: PrunedModel) -> PrunedModel:
    """The same model with its outputs in the sorted order of the labels."""
    order = np.argsort(np.array(model.classes))
    decoder = ("decoder.weight", "decoder.bias")
    members = [
        {name: array[order] if name in decoder else array for name, array in member.items()}
        for member in model.members
    ]
    return replace(model, members=members, classes=[model.classes[i] for i in order])


def fold(model: PrunedModel) -> list[Layer]:
    """The layers of a model, including BatchNorm in eval mode; the decoder is the last."""
    encoder = empty_network(model.network).encoder.children()
    modules = [module for module in encoder if not isinstance(module, nn.Flatten)]
    hidden = itertools.cycle([nn.Linear, nn.BatchNorm1d, nn.ReLU])
    if len(modules) % 3 or not all(map(isinstance, modules, hidden)):
        raise UserError(
            f"The network '{model.network['name']}' cannot be exported, because not all of its "
            "layers are fully connected. mlp_tab and mlp_vis can be exported."
        )
    # In double precision, so that only the result is rounded.
    folded = [fold_batchnorm(network.double()).float() for network in model.networks()]
    linear = [[m for m in network.modules() if isinstance(m, nn.Linear)] for network in folded]
    return [
        Layer(
            np.stack([layer.weight.detach().numpy() for layer in members]),
            np.stack([layer.bias.detach().numpy() for layer in members]),
        )
        for members in zip(*linear, strict=True)
    ]


# ---- the file


def write_model(path: str | Path, model: PrunedModel) -> None:
    """Write a model atomically."""
    arrays = {f"mask/{name}": bits for name, bits in pack_masks(model.masks).items()}
    for i, member in enumerate(model.members):
        arrays |= {f"{i}/{name}": array for name, array in member.items()}
    content = {name: getattr(model, name) for name in IN_HEADER}
    content["shapes"] = {name: list(mask.shape) for name, mask in model.masks.items()}
    try:
        write_arrays(path, arrays, format=FORMAT, version=VERSION, model=content)
    except OSError as error:
        raise UserError(f"The model cannot be written to {path} ({one_line(error)}).") from error


def read_model(path: str | Path) -> PrunedModel:
    """The model in a file; a damaged one is refused."""
    if not Path(path).is_file():
        raise UserError(f"The model {path} does not exist.")
    try:
        arrays, about = read_arrays_and_metadata(path)
    except UserError as error:  # its advice is for artifacts of the workflow
        text = str(error).replace(AGAIN, "If it was a model, get a new copy.")
        raise UserError(text) from error
    if about.get("format") != FORMAT:
        raise UserError(f"{path} is not a saved model: its header says something else.")
    if about["version"] != VERSION:
        raise UserError(
            f"{path} has version {about['version']} of the format, but iunet {__version__} reads "
            f"version {VERSION}. Use the iunet that wrote it, or save the model again."
        )
    try:
        return _model_of(arrays, about["model"])
    except (KeyError, ValueError, TypeError, IndexError, AttributeError, RuntimeError) as error:
        raise UserError(
            f"{path} is not a saved model: its parts do not fit together ({one_line(error)})."
        ) from error


def _model_of(arrays: Arrays, content: dict[str, Any]) -> PrunedModel:
    bits = {k.removeprefix("mask/"): a for k, a in arrays.items() if k.startswith("mask/")}
    _refuse_absurd(arrays, content)
    model = PrunedModel(
        members=split_members({k: a for k, a in arrays.items() if not k.startswith("mask/")}),
        masks=unpack_masks(bits, content["shapes"]),
        **{name: content[name] for name in IN_HEADER},
    )
    expected = {k: tuple(v.shape) for k, v in empty_network(model.network).state_dict().items()}
    for state in model.states():
        if {name: array.shape for name, array in state.items()} != expected:
            raise ValueError("the weights are not those of the network")
    if len(model.classes) != model.network["n_classes"]:
        raise ValueError("the number of labels is not the number of outputs")
    return model


def _refuse_absurd(arrays: Arrays, content: dict[str, Any]) -> None:
    """Refuse sizes that the file's arrays cannot have, before anything is allocated for them."""
    most = 8 * sum(array.nbytes for array in arrays.values())  # a weight takes at least one bit
    network = content["network"]
    sizes = [*network.values(), *network["options"].values()]
    sizes += [math.prod(shape) for shape in content["shapes"].values()]
    if any(isinstance(size, int | float) and not size <= most for size in sizes):
        raise ValueError("the network is larger than the file")
    if network["options"].get("depth", 0) > len(arrays):
        raise ValueError("it has fewer arrays than layers")


def check_path(path: str | Path) -> Path:
    """The file to write a model to, behind any link. Only a model is replaced."""
    path = Path(os.path.realpath(path))
    cannot = f"The model cannot be written to {path}"
    try:
        if path.is_dir():
            raise UserError(f"{cannot}, which is a folder. Name a file.")
        if path.exists() and not is_model(path):
            raise UserError(f"{cannot}, which is another kind of file. Name a new one.")
        path.parent.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryDirectory(dir=path.parent).cleanup()
    except OSError as error:
        raise UserError(f"{cannot} ({error.strerror}).") from error
    return path


def is_model(path: Path) -> bool:
    try:
        return path.is_file() and read_arrays_and_metadata(path)[1].get("format") == FORMAT
    except UserError:
        return False

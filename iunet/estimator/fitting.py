"""The whole method on rows in memory: the functions of the stages, one after the other."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from iunet.data.load import Part, TrainingData, make_inputs
from iunet.errors import DataError
from iunet.estimator.parameters import REAL, WHOLE
from iunet.evaluation.sizes import sizes
from iunet.method.masks import compress_weights
from iunet.method.pruning import Cut, lottery_ticket, prune
from iunet.networks.network import build_network, encoder_weights, initialise, state_tensors
from iunet.training.finetune import FinetuneSettings, fit_subnetwork
from iunet.training.initial import network_spec
from iunet.training.loop import Diverged
from iunet.training.members import on
from iunet.training.supernet import SupernetSettings, fit_supernet
from iunet.training.weights import LossWeights

Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class Recipe:
    """The settings of all stages."""

    network: dict[str, Any]  # of `mlp_tab`: width, depth
    init: str
    augment: dict[str, Any]
    supernet: SupernetSettings
    cut: Cut
    finetune: FinetuneSettings


def recipe_of(model: Any, seed: int) -> Recipe:
    """The parameters of an IUNetClassifier as the settings of the stages."""
    # Plain numbers, since NumPy's, of a grid search, cannot be written as JSON.
    whole = {name: int(getattr(model, name)) for name in WHOLE}
    real = {name: float(getattr(model, name)) for name in REAL}
    balanced = isinstance(model.class_weight, str)  # 'balanced' is the one word it may be
    weights = "balanced" if balanced else "unweighted"
    common = {"batch_size": whole["batch_size"], "class_weights": weights, "seed": seed}
    supernet = SupernetSettings(
        kappa=real["kappa"],
        objective=model.objective,
        epochs=whole["supernet_epochs"],
        lr=real["supernet_lr"],
        weight=real["nce_weight"],
        momentum=real["supernet_momentum"],
        nesterov=real["supernet_momentum"] > 0,
        histograms=False,
        **common,
    )
    finetune = FinetuneSettings(
        optimiser="adamw",
        lr=real["finetune_lr"],
        weight_decay=real["weight_decay"],
        first_cycle_epochs=whole["first_cycle_epochs"],
        cycle_factor=whole["cycle_factor"],
        cycles=whole["cycles"],
        snapshot_ensemble=model.snapshot_ensemble,
        **common,
    )
    cut = Cut(real["ratio"], model.structure, seed=seed)
    options = {"width": whole["width"], "depth": whole["depth"]}
    return Recipe(options, model.init, {"corruption": real["corruption"]}, supernet, cut, finetune)


@dataclass(frozen=True)
class Subnetwork:
    """What a fit comes to."""

    network: dict[str, Any]  # of its NetworkSpec
    masks: Arrays
    members: list[Arrays]  # of pruned layers only what is kept
    history: dict[str, list[dict[str, float]]]  # of both trainings, a line per epoch
    sizes: dict[str, Any]


def fit_rows(
    train: Part,
    preprocessing: dict[str, Any],
    n_classes: int,
    recipe: Recipe,
    weighted: LossWeights,
) -> Subnetwork:
    """θ†, supernet, mask and subnetwork; on the device of the rows."""
    device = train.raw.device
    shape = {"n_classes": n_classes, "n_inputs": preprocessing["n_inputs"]}
    spec = network_spec("mlp_tab", recipe.network, shape)
    drawn = state_tensors(initialise(spec, recipe.init, recipe.supernet.seed))
    initial = {name: tensor.to(device) for name, tensor in drawn.items()}
    network = build_network(spec).to(device)
    inputs = make_inputs(preprocessing, device, recipe.augment, train)
    data = TrainingData(train, inputs)
    rate = ("first", "supernet_lr", recipe.supernet.lr)
    with _named_if_diverged(*rate, others="'kappa' or 'nce_weight'"):
        supernet = fit_supernet(network, initial, data, recipe.supernet, weighted=weighted)

    names = list(encoder_weights(network))
    pruned = prune(
        *(to_arrays(state, names) for state in (supernet.state, drawn)), names, recipe.cut
    )
    if not pruned.n_kept:
        raise DataError(
            f"The parameter 'ratio' is {recipe.cut.ratio:g}, which leaves no weight of the "
            "network's encoder. Lower it, or widen the network."
        )
    masks = on(device, pruned.masks)
    start = lottery_ticket(initial, masks)
    rate = ("second", "finetune_lr", recipe.finetune.lr)
    with _named_if_diverged(*rate, others="'weight_decay'"):
        finetuned = fit_subnetwork(network, start, masks, data, recipe.finetune, weighted=weighted)
    members = [compress_weights(to_arrays(m), pruned.masks) for m in finetuned.members]
    kept = {name: int(mask.sum()) for name, mask in pruned.masks.items()}
    return Subnetwork(
        spec.to_json(),
        pruned.masks,
        members,
        {"supernet": supernet.trained.history, "finetune": finetuned.trained.history},
        sizes(network, spec, kept, len(members)),
    )


@contextlib.contextmanager
def _named_if_diverged(training: str, rate: str, value: float, others: str) -> Iterator[None]:
    """The workflow's error speaks of a run; here it names the parameters to look at."""
    try:
        yield
    except Diverged as error:
        how = str(error).partition("diverged: ")[2].partition(". No ")[0]
        raise DataError(
            f"The {training} training diverged: {how}. Lower the parameter '{rate}', which is "
            f"{value:g}; a large {others} does it, too."
        ) from error


def to_arrays(state: dict[str, torch.Tensor], names: list[str] | None = None) -> Arrays:
    return {name: state[name].cpu().numpy() for name in names or state}

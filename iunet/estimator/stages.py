"""The method on rows in memory: the workflow's stages without files between, in borrowed torch."""

from __future__ import annotations

import contextlib
import copy
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from iunet.data.load import Part, TrainingData, make_inputs
from iunet.deploy.model import PrunedModel
from iunet.errors import DataError
from iunet.estimator.parameters import REAL, WHOLE
from iunet.evaluation.consistency import consistency_of_members
from iunet.machine.device import resolve_device
from iunet.method.masks import compress_weights
from iunet.method.pruning import Cut, lottery_ticket, prune
from iunet.networks.network import (
    Network,
    build_network,
    encoder_weights,
    initialise,
    state_tensors,
)
from iunet.scoring.prediction import mean_softmax_of
from iunet.training.finetune import FinetuneSettings, fit_subnetwork
from iunet.training.initial import network_spec
from iunet.training.loop import Diverged
from iunet.training.members import on
from iunet.training.streams import stream
from iunet.training.supernet import SupernetSettings, fit_supernet
from iunet.training.support import progress
from iunet.training.weights import LossWeights

Arrays = dict[str, np.ndarray]
History = dict[str, list[dict[str, float]]]  # of both trainings, a line per epoch


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


def fit_rows(
    train: Part,
    preprocessing: dict[str, Any],
    classes: list[Any],
    recipe: Recipe,
    weighted: LossWeights,
) -> tuple[PrunedModel, History]:
    """θ†, supernet, mask and subnetwork; on the device of the rows."""
    device = train.raw.device
    shape = {"n_classes": len(classes), "n_inputs": preprocessing["n_inputs"]}
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
    origin = {"fit": "IUNetClassifier", "seed": recipe.supernet.seed}
    model = PrunedModel(preprocessing, spec.to_json(), members, pruned.masks, classes, origin)
    histories = supernet.trained.history, finetuned.trained.history
    return model, dict(zip(("supernet", "finetune"), histories, strict=True))


def predict_rows(
    networks: list[Network], preprocessing: dict[str, Any], rows: Part, device: torch.device
) -> np.ndarray:
    """The mean softmax of the networks, which move to the device."""
    inputs = make_inputs(preprocessing, device)
    on_device = Part(rows.raw.to(device), rows.labels)
    return mean_softmax_of((n.to(device) for n in networks), inputs, on_device).cpu().numpy()


def row_consistency(
    networks: list[Network],
    preprocessing: dict[str, Any],
    rows: Part,
    donors: Part,
    augment: dict[str, Any],
    seed: int,
    device: torch.device,
) -> dict[str, float | None]:
    """How often predictions stay the same when columns take values from the rows of `donors`."""
    predicted = predict_rows(networks, preprocessing, rows, device).argmax(axis=1)
    rows, donors = (Part(part.raw.to(device), part.labels) for part in (rows, donors))
    inputs = make_inputs(preprocessing, device, augment, donors)
    (name,) = inputs.single_transforms()
    network = copy.deepcopy(networks[0])  # takes the weights of one after the other
    members = [state_tensors(network) for network in networks]
    labels = torch.from_numpy(predicted).to(device)
    draws = {name: stream(seed, f"consistency/{name}", device)}
    return consistency_of_members(network, members, inputs, rows, labels, draws)[name]


@contextlib.contextmanager
def _named_if_diverged(training: str, rate: str, value: float, others: str) -> Iterator[None]:
    """Inside, a training that diverges is a `DataError` that names the parameters to look at."""
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


# ---- torch's settings

# Threads and random numbers are settings of the whole process: calls in several threads take turns.
ONE_AT_A_TIME = threading.RLock()


@contextlib.contextmanager
def borrowed_torch(device: str, n_threads: int, show_progress: bool = False) -> Iterator:
    """The device to compute on; inside, torch is set as a job of the workflow sets it.

    The number of threads is fixed, since float sums change with it, and denormal numbers count as
    zero. Tensors are float32 with gradients, whatever the caller has set around the call.
    Afterwards threads, random state and flags are what they were.
    """
    with ONE_AT_A_TIME, contextlib.ExitStack() as afterwards:
        chosen = _device(device)
        threads, cudnn = torch.get_num_threads(), torch.backends.cudnn
        afterwards.callback(torch.set_num_threads, threads)
        afterwards.callback(torch.set_default_dtype, torch.get_default_dtype())
        afterwards.enter_context(torch.inference_mode(False))
        afterwards.enter_context(torch.enable_grad())
        afterwards.enter_context(torch.autocast(chosen.type, enabled=False))
        afterwards.callback(torch.set_flush_denormal, denormals_are_zero())
        afterwards.callback(_set_cudnn, cudnn.deterministic, cudnn.benchmark)
        afterwards.callback(setattr, progress, "show_progress_bar", progress.show_progress_bar)
        gpus = range(torch.cuda.device_count()) if chosen.type == "cuda" else ()
        afterwards.enter_context(torch.random.fork_rng(gpus))
        torch.set_num_threads(n_threads)
        torch.set_default_dtype(torch.float32)
        torch.set_flush_denormal(True)
        _set_cudnn(True, False)
        progress.show_progress_bar = show_progress
        yield chosen


def denormals_are_zero() -> bool:
    """Torch has no question for what `set_flush_denormal` sets, in this thread."""
    smallest = torch.full((1,), torch.finfo(torch.float32).tiny)
    return (smallest * 0.5).item() == 0.0


def _set_cudnn(deterministic: bool, benchmark: bool) -> None:
    torch.backends.cudnn.deterministic, torch.backends.cudnn.benchmark = deterministic, benchmark


def _device(wanted: str) -> torch.device:
    if wanted not in ("auto", "cpu", "cuda"):
        raise DataError(f"The parameter 'device' is {wanted!r}, not one of auto, cpu, cuda.")
    if wanted == "cuda" and not torch.cuda.is_available():
        raise DataError(
            f"The parameter 'device' asks for cuda, but torch {torch.__version__} sees no GPU here."
        )
    resolved = resolve_device(wanted)
    return torch.device(resolved if torch.cuda.is_available() else "cpu")

"""The method on rows in memory: the workflow's stages without files between them."""

from __future__ import annotations

import contextlib
import copy
import threading
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import torch

from iunet.data.load import Part, TrainingData, make_inputs
from iunet.deploy.model import PrunedModel
from iunet.errors import DataError
from iunet.estimator.parameters import finetune_settings, supernet_settings
from iunet.evaluation.consistency import consistency_of_members
from iunet.machine.cpu import fastest_products, products, set_products
from iunet.machine.device import resolve_device
from iunet.method.masks import compress_weights
from iunet.method.objectives import LossWeights
from iunet.method.pruning import Cut, lottery_ticket, prune
from iunet.networks.network import (
    Network,
    build_network,
    encoder_weights,
    initialise,
    state_tensors,
)
from iunet.scoring.prediction import mean_softmax_of
from iunet.training.finetune import fit_subnetwork
from iunet.training.initial import network_spec
from iunet.training.loop import Diverged, stream
from iunet.training.members import on
from iunet.training.supernet import fit_supernet
from iunet.training.support import progress

Arrays = dict[str, np.ndarray]


def fit_rows(
    train: Part,
    preprocessing: dict[str, Any],
    classes: np.ndarray,
    parameters: dict[str, Any],
    seed: int,
    weighted: LossWeights,
) -> PrunedModel:
    """Initial weights, supernet, mask and subnetwork, on the device of the rows.

    `parameters` are the checked ones of an IUNetClassifier.
    """
    device = train.raw.device
    shape = {"n_classes": len(classes), "n_inputs": preprocessing["n_inputs"]}
    options = {"width": parameters["width"], "depth": parameters["depth"]}
    spec = network_spec("mlp_tab", options, shape)
    drawn = state_tensors(initialise(spec, parameters["init"], seed))
    initial = {name: tensor.to(device) for name, tensor in drawn.items()}
    network = build_network(spec).to(device)
    augment = {"corruption": parameters["corruption"]}
    data = TrainingData(train, make_inputs(preprocessing, device, augment, train))
    settings = supernet_settings(parameters, seed)
    with _named_if_diverged("first", "supernet_lr", settings.lr, "'kappa' or 'nce_weight'"):
        supernet = fit_supernet(network, initial, data, settings, weighted=weighted)

    names = list(encoder_weights(network))
    cut = Cut(parameters["ratio"], parameters["structure"], seed=seed)
    pruned = prune(*(to_arrays(state, names) for state in (supernet.state, drawn)), names, cut)
    if not pruned.n_kept:
        raise DataError(
            f"The parameter 'ratio' is {cut.ratio:g}, which leaves no weight of the "
            "network's encoder. Lower it, or widen the network."
        )
    masks = on(device, pruned.masks)
    start = lottery_ticket(initial, masks)
    settings = finetune_settings(parameters, seed)
    with _named_if_diverged("second", "finetune_lr", settings.lr, "'weight_decay'"):
        finetuned = fit_subnetwork(network, start, masks, data, settings, weighted=weighted)
    members = [compress_weights(to_arrays(m), pruned.masks) for m in finetuned.members]
    histories = {"supernet": supernet.trained.history, "finetune": finetuned.trained.history}
    return PrunedModel(
        preprocessing=preprocessing,
        network=spec.to_json(),
        members=members,
        masks=pruned.masks,
        classes=classes.tolist(),
        origin={"fit": "IUNetClassifier", "seed": seed},
        classifier={"labels": classes.dtype.str, "history": histories},
    )


def predict_rows(
    networks: list[Network], preprocessing: dict[str, Any], rows: Part
) -> torch.Tensor:
    """The mean softmax of the networks, which move to the device of the rows."""
    device = rows.raw.device
    inputs = make_inputs(preprocessing, device)
    return mean_softmax_of((network.to(device) for network in networks), inputs, rows)


def row_consistency(
    networks: list[Network],
    preprocessing: dict[str, Any],
    rows: Part,
    donors: Part,
    augment: dict[str, Any],
    seed: int,
) -> dict[str, float | None]:
    """How often predictions stay the same when columns take values from the rows of `donors`."""
    labels = predict_rows(networks, preprocessing, rows).argmax(dim=1)
    inputs = make_inputs(preprocessing, rows.raw.device, augment, donors)
    (name,) = inputs.single_transforms()
    network = copy.deepcopy(networks[0])  # gets the weights of each member in turn
    members = [state_tensors(network) for network in networks]
    draws = {name: stream(seed, f"consistency/{name}", rows.raw.device)}
    return consistency_of_members(network, members, inputs, rows, labels, draws)[name]


@contextlib.contextmanager
def _named_if_diverged(training: str, rate: str, value: float, others: str) -> Iterator[None]:
    """Inside, a training that diverges raises a `DataError` that names the parameters."""
    try:
        yield
    except Diverged as error:
        how = str(error).partition("diverged: ")[2].partition(". No ")[0]
        raise DataError(
            f"The {training} training diverged: {how}. Lower the parameter '{rate}', which is "
            f"{value:g}. A large {others} may also be the cause."
        ) from error


def to_arrays(state: dict[str, torch.Tensor], names: list[str] | None = None) -> Arrays:
    return {name: state[name].cpu().numpy() for name in names or state}


# ---- torch's settings

# Threads and random numbers are settings of the process, so calls in several threads take turns.
ONE_AT_A_TIME = threading.RLock()
BAR = "show_progress_bar"  # of iunet/training/support/progress.py


@contextlib.contextmanager
def borrowed_torch(device: str, n_threads: int, show_progress: bool = False) -> Iterator:
    """Gives the device; inside, torch has the settings of a job of the workflow.

    The number of threads is fixed, since float sums change with it, and denormal numbers count as
    zero. Tensors are float32 with gradients, whatever the caller has set. Afterwards all settings
    are restored.
    """
    cudnn = torch.backends.cudnn
    with ONE_AT_A_TIME, contextlib.ExitStack() as afterwards:
        chosen = _device(device)
        gpus = range(torch.cuda.device_count()) if chosen.type == "cuda" else ()
        afterwards.enter_context(torch.random.fork_rng(gpus))
        afterwards.enter_context(torch.inference_mode(False))
        afterwards.enter_context(torch.enable_grad())
        afterwards.enter_context(torch.autocast(chosen.type, enabled=False))
        for set_to, before, inside in (
            (torch.set_num_threads, torch.get_num_threads(), n_threads),
            (torch.set_default_dtype, torch.get_default_dtype(), torch.float32),
            (torch.set_flush_denormal, denormals_are_zero(), True),
            (set_products, products(), fastest_products()),
            (partial(setattr, cudnn, "deterministic"), cudnn.deterministic, True),
            (partial(setattr, cudnn, "benchmark"), cudnn.benchmark, False),
            (partial(setattr, progress, BAR), getattr(progress, BAR), show_progress),
        ):
            afterwards.callback(set_to, before)
            set_to(inside)
        yield chosen


def denormals_are_zero() -> bool:
    """Whether `set_flush_denormal` is on in this thread; torch has no function for that."""
    smallest = torch.full((1,), torch.finfo(torch.float32).tiny, dtype=torch.float32)
    return (smallest * 0.5).item() == 0.0


def _device(wanted: str) -> torch.device:
    if wanted == "cuda" and not torch.cuda.is_available():
        raise DataError(
            f"The parameter 'device' is cuda, but torch {torch.__version__} finds no GPU."
        )
    resolved = resolve_device(wanted)
    return torch.device(resolved if torch.cuda.is_available() else "cpu")

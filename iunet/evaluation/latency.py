"""Latency of a pruned network and of the dense one, with torch's kernels.

Unstructured sparsity only helps if something uses it. Two forms do: sparse matrices (CSR; for a
Conv over its unfolded input), and smaller dense layers without dead units. All forms compute the
same function, with BatchNorm folded into the layer before it. The stage measures the chosen
subnetwork, for the efficiency table.
"""

from __future__ import annotations

import copy
import math
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from iunet.artifacts import read_json, write_json
from iunet.method.masks import read_masks
from iunet.networks.folded import Layer, fold_batchnorm, without_dead_units
from iunet.networks.network import Network, NetworkSpec, build_network
from iunet.training.members import read_members
from iunet.training.support.environment import describe_environment, set_up_torch

BATCHES = (1, 128)
FEWEST, BUDGET_S = 5, 3.0  # calls of each form, and seconds for all of them


@torch.no_grad()
def measure_latency(network: Network, spec: NetworkSpec, repeats: int = 30) -> dict[str, Any]:
    """Median milliseconds of a forward pass on one CPU thread, as the efficiency table names them.

    `pruned_ms` is that of the fastest pruned form, named in `form`.
    """
    dense, pruned = fold_batchnorm(network), pruned_forms(network)
    found: dict[str, Any] = {}
    fastest: list[str] = []
    by_form: dict[str, dict[str, float]] = {}
    for batch in BATCHES:
        x = torch.randn(batch, *spec.input_shape(), generator=torch.Generator().manual_seed(0))
        times = milliseconds({"dense": dense, **pruned}, x, repeats)
        fastest.append(min(pruned, key=times.get))
        found[f"latency_{batch}_dense_ms"] = times["dense"]
        found[f"latency_{batch}_pruned_ms"] = times[fastest[-1]]
        by_form[str(batch)] = times
    return found | {"form": " / ".join(dict.fromkeys(fastest)), "forms_ms": by_form}


def milliseconds(forms: dict[str, Callable], x: Any, repeats: int) -> dict[str, float]:
    """The median of the calls of each form with `x`, after one that fills the caches.

    Counts the thread's CPU time, with the forms in turns, so that other programs disturb little
    and all forms alike. Large networks are called less often. torch uses one thread: on a busy
    machine, threads would wait for each other.
    """
    samples: dict[str, list[float]] = {form: [] for form in forms}
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        for predict in forms.values():
            predict(x)
        start = time.thread_time()
        for done in range(repeats):
            if done >= FEWEST and time.thread_time() - start > BUDGET_S:
                break
            for form, predict in forms.items():
                before = time.thread_time()
                predict(x)
                samples[form].append(1000 * (time.thread_time() - before))
    finally:
        torch.set_num_threads(threads)
    return {form: median(values) for form, values in samples.items()}


# ---- the stage


def measure_chosen(
    choice: str,
    candidates: list[dict[str, str]],
    dense: str,
    description: str,
    run: dict[str, Any],
    output: str,
    repeats: int = 30,
) -> None:
    """The stage: bytes and latency on the CPU of the chosen subnetwork, if there is one.

    A candidate has supernet and cut, which identify it, and its files: weights, mask and
    mask_report. `dense` has the weights of the dense network with the same seed, `description` is
    its initial.json, and `run` has dataset, network, method and seed.
    """
    chosen = read_json(choice)["chosen"]
    if chosen is None:
        write_json(output, {**run, "missing": "every candidate failed"})
        return
    point = (chosen["supernet"], chosen["cut"])
    files = next(c for c in candidates if (c["supernet"], c["cut"]) == point)
    spec = NetworkSpec(**read_json(description)["network"])
    masks = read_masks(files["mask"], files["mask_report"])
    device = set_up_torch("cpu", 1, 1)
    network = build_network(spec)
    network.load_state_dict(read_members(files["weights"], masks, device)[0])
    content = {
        **run,
        "bytes_dense": Path(dense).stat().st_size,
        "bytes_pruned": sum(Path(files[name]).stat().st_size for name in ("weights", "mask")),
        **measure_latency(network, spec, repeats),
        "environment": describe_environment(device),
    }
    write_json(output, content)


# ---- forms of a network


def pruned_forms(network: Network) -> dict[str, nn.Module]:
    """All forms of a network with zeros for pruned weights."""
    folded = fold_batchnorm(network)
    forms = {"sparse": sparse_form(folded)}
    chain = nn.Linear | nn.Conv2d | nn.ReLU | nn.Flatten | nn.Identity  # not so in a ResNet
    if all(isinstance(module, chain) for module in folded.encoder.children()):
        smaller = remove_dead_units(folded)
        forms |= {"smaller": smaller, "smaller and sparse": sparse_form(smaller)}
    return forms


class SparseLinear(nn.Module):
    """A layer with its BatchNorm, and therefore a bias, as a sparse matrix."""

    def __init__(self, layer: nn.Linear):
        super().__init__()
        self.weight, self.bias = _csr(layer.weight), layer.bias

    def forward(self, x: Tensor) -> Tensor:
        return (self.weight @ x.T).T + self.bias


class SparseConv(nn.Module):
    """A convolution as the product of a sparse matrix with the unfolded input."""

    def __init__(self, layer: nn.Conv2d):
        super().__init__()
        self.weight, self.bias = _csr(layer.weight.flatten(1)), layer.bias
        self.options = {"padding": layer.padding, "stride": layer.stride}
        self.kernel = layer.kernel_size

    def forward(self, x: Tensor) -> Tensor:
        columns = F.unfold(x, self.kernel, **self.options)  # batch, channels·k², positions
        flat = columns.transpose(0, 1).reshape(columns.shape[1], -1)
        out = self.weight @ flat + self.bias[:, None]
        side = math.isqrt(columns.shape[2])  # all images are square
        return out.reshape(len(out), len(x), side, side).transpose(0, 1)


def _csr(weight: Tensor) -> Tensor:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch calls its CSR support a beta
        return weight.detach().to_sparse_csr()


def sparse_form(folded: nn.Module) -> nn.Module:
    """CSR matrices for all encoder layers with pruned weights."""
    form = copy.deepcopy(folded)
    for parent in list(form.encoder.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, nn.Linear | nn.Conv2d) and bool((child.weight == 0).any()):
                sparse = SparseLinear if isinstance(child, nn.Linear) else SparseConv
                setattr(parent, name, sparse(child))
    return form


# ---- removal of dead units


def remove_dead_units(folded: Network) -> Network:
    """The same network as smaller dense layers."""
    form = copy.deepcopy(folded)
    modules = [m for m in form.encoder if isinstance(m, nn.Linear | nn.Conv2d)] + [form.decoder]
    layers = [
        Layer(
            module.weight.detach().flatten(1).numpy()[None],
            module.bias.detach().numpy()[None],
            padded=isinstance(module, nn.Conv2d),
        )
        for module in modules
    ]
    for module, layer in zip(modules, without_dead_units(layers), strict=True):
        weights, biases = (torch.from_numpy(array[0].copy()) for array in layer[:2])
        kernel = module.weight.shape[2:]
        module.weight = nn.Parameter(weights.reshape(len(biases), -1, *kernel))
        module.bias = nn.Parameter(biases)
    return form

"""What a training step would do on a GPU, seen without one: fake tensors that claim to lie there.

`python recorder.py HOOKS.so [CASE ...]` drives the real training code and prints, per case, the
kernels and bytes of a step, where the host waits in it, the peak of memory, and what is wrong, as
JSON. Fake tensors have shapes, types and devices and no numbers, so this shows no real kernel, no
speed and no second GPU.
"""

from __future__ import annotations

import ctypes
import importlib.util
import json
import sys
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

LIBRARIES = Path(importlib.util.find_spec("torch").origin).parent / "lib"
for library in ("libc10.so", "libtorch_cpu.so"):  # before `import torch`, which looks for CUDA
    ctypes.CDLL(str(LIBRARIES / library), mode=ctypes.RTLD_GLOBAL)
ctypes.CDLL(sys.argv[1])

import torch  # noqa: E402
from cases import TRAININGS  # noqa: E402
from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402
from torch.utils._pytree import tree_leaves  # noqa: E402

from iunet.baselines import tabnet  # noqa: E402
from iunet.baselines.cocktail.settings import Cocktail  # noqa: E402
from iunet.baselines.cocktail.train import fit  # noqa: E402
from iunet.data.load import Part, TrainingData, make_inputs  # noqa: E402
from iunet.data.preprocess import Categorical, Numeric, Preprocessing  # noqa: E402
from iunet.evaluation.consistency import consistency  # noqa: E402
from iunet.networks.network import (  # noqa: E402
    NetworkSpec,
    build_network,
    encoder_weights,
    state_tensors,
)
from iunet.training import loop  # noqa: E402
from iunet.training.decoder import fit_decoder  # noqa: E402
from iunet.training.finetune import FinetuneSettings, fit_subnetwork  # noqa: E402
from iunet.training.loop import Training, stream, train  # noqa: E402
from iunet.training.supernet import SupernetSettings, fit_supernet  # noqa: E402


class FakeMode(FakeTensorMode):
    avoid_device_init = True  # though CUDA seems to be there


torch.cuda.is_available = lambda: True  # what autocast and GradScaler ask for
torch.nn.Module.to = lambda module, *_, **__: module  # fake ones are built where they belong
CUDA = torch.device("cuda", 0)
NO_KERNEL = (
    *("prim::", "empty", "detach", "lift", "alias", "_unsafe_view", "profiler"),
    "_local_scalar_dense",
)
# What has a size that is known only after waiting.
KNOWS_SIZE = ("nonzero", "masked_select", "unique", "_unique2", "is_nonzero", "bincount")
# What torch cannot do with fake tensors: sizes are invented, fused optimisers write in place.
STAND_INS = {
    "_unique2": lambda x, *_: (x.new_empty(10), x.new_empty(0), x.new_empty(0)),
    "bincount": lambda x, *_: x.new_empty(10),
    "_fused_sgd_": lambda *_: None,
    "_fused_adam_": lambda *_: None,
    "_fused_adamw_": lambda *_: None,
}
BATCH = 128


class Recorder(TorchDispatchMode):
    """Counts kernels, waits and bytes of everything that lies on the GPU."""

    def __init__(self):
        super().__init__()
        self.kernels = self.bytes = self.live = self.peak = 0
        self.waits: list[str] = []
        self.wrong: list[str] = []
        self.norm_types: set[str] = set()
        self.storages: dict[int, weakref.ref] = {}

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name = function.name().removeprefix("aten::")
        if name == "_local_scalar_dense":
            if args[0].device.type == "cuda":
                self.waits.append(name)
            return {torch.bool: True, torch.int64: 1}.get(args[0].dtype, 1.0)
        if name.startswith(("native_batch_norm", "cudnn_batch_norm", "_batch_norm_with_update")):
            self.norm_types |= {str(args[0].dtype)}
        given = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        stand_in = STAND_INS.get(name.partition(".")[0])
        result = stand_in(*args) if stand_in else function(*args, **kwargs)
        made = [leaf for leaf in tree_leaves(result) if isinstance(leaf, torch.Tensor)]
        on_gpu = any(t.device.type == "cuda" for t in (*given, *made))
        if not on_gpu:
            return result
        if name.startswith("_to_copy") and given[0].device != made[0].device and given[0].numel():
            self.waits.append(f"{name} {given[0].device} to {made[0].device}")
        if name.split(".")[0] in KNOWS_SIZE or _by_mask(name, args):
            self.waits.append(name)
        for leaf in tree_leaves((args, kwargs)):
            if isinstance(leaf, torch.Generator) and made and leaf.device != made[0].device:
                self.wrong.append(f"{name} with a generator of {leaf.device} on {made[0].device}")
        if not function.is_view and not any(word in name for word in NO_KERNEL):
            self.kernels += 1
            changed = _changed(function, args)
            written = {id(t): t for t in (*made, *changed)}
            self.bytes += sum(t.nbytes for t in (*given, *written.values()))
        for tensor in made:
            self._keep(tensor)
        return result

    def mark(self) -> tuple[int, int, int]:
        return self.kernels, self.bytes, len(self.waits)

    def _keep(self, tensor: torch.Tensor) -> None:
        """Count the memory of a tensor until its storage goes."""
        storage = tensor.untyped_storage()
        key = storage._cdata
        if tensor.device.type != "cuda" or key in self.storages:
            return
        size = storage.nbytes()
        self.live += size
        self.peak = max(self.peak, self.live)

        def gone(_: Any) -> None:
            self.live -= size
            del self.storages[key]

        self.storages[key] = weakref.ref(storage, gone)


def _changed(function: Any, args: tuple) -> list[torch.Tensor]:
    """The tensors that an operation writes into."""
    names = zip(function._schema.arguments, args, strict=False)
    places = [value for known, value in names if known.alias_info and known.alias_info.is_write]
    return [leaf for leaf in tree_leaves(places) if isinstance(leaf, torch.Tensor)]


def _by_mask(name: str, args: tuple) -> bool:
    """Whether rows are picked by a mask: how many is known only when it has been read."""
    if not name.startswith(("index", "_index_put")) or name.startswith("index_select"):
        return False
    places = args[1] if len(args) > 1 and isinstance(args[1], list | tuple) else []
    masks = any(
        isinstance(place, torch.Tensor) and place.dtype == torch.bool and place.is_cuda
        for place in places
    )
    # One number in place of all that a mask picks is a masked_fill.
    return masks and not ("index_put" in name and args[2].numel() == 1)


# ---- data on the fake GPU


def table(rows: int, words: int = 1) -> TrainingData:
    numbers = [Numeric(f"x{i}", 0.0, 0.0, 1.0) for i in range(20)]
    one_hot = [Categorical(f"c{i}", ["a", "b", "d"], False) for i in range(words)]
    fitted = {"kind": "tabular", **Preprocessing(numbers, one_hot, []).to_json()}
    part = Part(
        torch.zeros(rows, 20 + words, device=CUDA),
        torch.zeros(rows, dtype=torch.int64, device=CUDA),
    )
    return TrainingData(part, make_inputs(fitted, CUDA, {"corruption": 0.6}, part))


AUGMENT = {
    "resize": {"scale": [0.08, 1.0], "ratio": [0.75, 1.3333333333333333]},
    "horiz": {"p": 0.5},
    "color": {"p": 0.8, "brightness": 0.4, "contrast": 0.4, "saturation": 0.4, "hue": 0.1},
    "graysc": {"p": 0.2},
}


def images(rows: int) -> TrainingData:
    part = Part(
        torch.zeros(rows, 3, 32, 32, dtype=torch.uint8, device=CUDA),
        torch.zeros(rows, dtype=torch.int64, device=CUDA),
    )
    fitted = {"kind": "vision", "mean": [0.5] * 3, "std": [0.2] * 3}
    return TrainingData(part, make_inputs(fitted, CUDA, AUGMENT, part))


def network(name: str, options: dict[str, Any]):
    spec = {"n_inputs": 23} if name == "mlp_tab" else {"side": 32}
    with CUDA:
        return build_network(NetworkSpec(name, 10, options=options, **spec))


def initial(network) -> dict[str, torch.Tensor]:
    """As a stage reads them: on the host."""
    return {name: tensor.cpu() for name, tensor in state_tensors(network).items()}


# ---- the real training code


def supernet(name: str, objective: str, options: dict[str, Any]) -> Callable[[int], None]:
    def run(rows: int) -> None:
        data = (table if name == "mlp_tab" else images)(rows)
        net = network(name, options)
        lasso = {"l1": 1e-6, "beta": 50.0} if objective == "lasso" else {}
        sgd = {} if lasso else {"momentum": 0.9, "nesterov": True}
        settings = SupernetSettings(
            0.25,
            objective,
            1,
            BATCH,
            lr=0.001,
            seed=0,
            weight=1.0,
            histograms=False,
            **sgd,
            **lasso,
        )
        fit_supernet(net, initial(net), data, settings)

    return run


def finetuning(name: str, options: dict[str, Any], **changes: Any) -> Callable[[int], None]:
    def run(rows: int) -> None:
        data = (table if name == "mlp_tab" else images)(rows)
        net = network(name, options)
        masks = {key: torch.ones_like(w) for key, w in encoder_weights(net).items()}
        sgd = {"optimiser": "sgd", "epochs": 1, "momentum": 0.9, "nesterov": True}
        settings = FinetuneSettings(lr=0.001, batch_size=BATCH, seed=0, **(sgd | changes))
        fit_subnetwork(net, initial(net), masks, data, settings)

    return run


ADAMW = {"optimiser": "adamw", "epochs": 0, "momentum": 0.0, "nesterov": False, "cycles": 1}
ADAMW |= {"first_cycle_epochs": 1, "weight_decay": 0.01, "snapshot_ensemble": True}


def decoder(rows: int) -> None:
    net = network("mlp_vis", {"alpha": 1})
    settings = FinetuneSettings("sgd", 0.001, BATCH, 0, epochs=1, momentum=0.9, nesterov=True)
    data = images(rows)
    data.valid = data.train
    fit_decoder(net, initial(net), data, settings)


def consistency_of(rows: int) -> None:
    data = images(rows)
    generators = {name: stream(0, name, CUDA) for name in AUGMENT}
    consistency(network("mlp_vis", {"alpha": 1}), data.inputs, data.train, data.train, generators)


def cocktail(**switches: Any) -> Callable[[int], None]:
    def run(rows: int) -> None:
        data = table(rows)
        mixed = Cocktail(batch_norm=True, **switches, first_cycle_epochs=1, cycles=1)
        with CUDA:
            fit(mixed, data.train, data.inputs, 10, 0, "cocktail", quiet=True)

    return run


def tabnet_of(rows: int) -> None:
    data = table(rows)
    inputs = tabnet.EmbeddedInputs(20)
    with CUDA:
        net = tabnet.TabNetLogits(
            tabnet.TabNet(21, 10, n_steps=3, cat_idxs=[20], cat_dims=[4], cat_emb_dim=[1],
                          virtual_batch_size=BATCH, group_attention_matrix=torch.eye(21))
        )  # fmt: skip
    net.network.embedder.continuous_idx = [True] * 20 + [False]  # which stays on the host

    def loss(picked: torch.Tensor):
        logits, sparsity = net.with_sparsity(inputs.prepare(data.train.raw[picked]))
        labels = data.train.labels[picked]
        return torch.nn.functional.cross_entropy(logits, labels) - sparsity, {}

    adam = tabnet.ClippedAdam(net.parameters(), lr=0.01)
    generators = {"order": stream(0, "tabnet/order", CUDA)}
    train(Training("tabnet", net, adam, 1, BATCH, rows, loss, None, generators=generators))


CASES: dict[str, Callable[[int], None]] = {
    name: supernet(network, minimised, options)
    for name, (network, options, minimised) in TRAININGS.items()
    if name.startswith("supernet")
}
CASES |= {
    name: finetuning(network, options, half_precision=minimised == "half")
    for name, (network, options, minimised) in TRAININGS.items()
    if name.startswith("finetune")
}
CASES |= {
    "finetune mlp_tab adamw": finetuning(
        "mlp_tab", TRAININGS["finetune mlp_tab adamw"][1], class_weights="balanced", **ADAMW
    ),
    "decoder": decoder,
    "consistency": consistency_of,
    "cocktail": cocktail(
        weight_decay=0.01, dropout=0.5, skip_connection=True, augmentation="mixup"
    ),
    "cocktail all": cocktail(
        weight_decay=0.01,
        dropout=0.5,
        snapshot_ensemble=True,
        swa=True,
        lookahead=True,
        skip_connection=True,
        branch="shake_shake",
        augmentation="fgsm",
    ),
    "cocktail cutmix": cocktail(augmentation="cutmix", skip_connection=True, branch="shake_drop"),
    "cocktail cutout": cocktail(augmentation="cutout"),
    "tabnet": tabnet_of,
}


def measure(case: Callable[[int], None]) -> dict[str, Any]:
    """Of a training of two steps: the first sets up the optimiser, the second is counted."""
    marks: list[tuple[int, int, int]] = []
    batches = loop.batches

    def marked(*arguments: Any) -> Iterator[torch.Tensor]:
        for rows in batches(*arguments):
            marks.append(recorder.mark())
            yield rows
        marks.append(recorder.mark())

    loop.batches = marked
    try:
        with FakeMode(), Recorder() as recorder:
            case(2 * BATCH)
    except Exception as error:  # a test of its own for each case
        return {"wrong": [f"{type(error).__name__}: {error}"]}
    finally:
        loop.batches = batches
    # Without steps (an evaluation) all of it is one.
    (kernels, moved, before), (all_kernels, all_moved, after) = marks[-2:] or (
        (0, 0, 0),
        recorder.mark(),
    )
    return {
        "kernels": all_kernels - kernels,
        "mb": (all_moved - moved) / 1e6,
        "waits": sorted(set(recorder.waits[before:after])),
        "peak_mb": recorder.peak / 1e6,
        "norm_types": sorted(recorder.norm_types),
        "wrong": sorted(set(recorder.wrong)),
    }


if __name__ == "__main__":
    picked = sys.argv[2:] or CASES
    print(json.dumps({name: measure(CASES[name]) for name in picked}, indent=1))

"""Training checkpoints: weights, optimiser, random generators, epoch, history; in one file.

The file is replaced atomically. It lies next to the stage's outputs and is not one of them, since
Snakemake deletes the outputs of a job that was cut off. It holds the identity of its run and
checksums of its content: a checkpoint of another run, or a damaged one, is refused by name, and
training starts afresh.
"""

from __future__ import annotations

import json
import logging
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from iunet.artifacts import read_arrays_and_metadata, remove_leftovers, write_tensors
from iunet.errors import UserError
from iunet.networks.network import state_tensors

if TYPE_CHECKING:
    from iunet.training.loop import Trained, Training

log = logging.getLogger(__name__)


BYTES_PER_S = 5e6  # a training's checkpoints on average: 736 MB (mlp_vis) every 147 s


class Checkpoint:
    """The checkpoint of one run, at one path, made at most every `every_s` seconds.

    A large one is made less often: a hundred jobs may write to the same file system. With 0 there
    is one after every epoch.
    """

    def __init__(self, path: str | Path, identity: dict[str, Any], every_s: float = 60.0):
        self.path = Path(path)
        self.identity = json.loads(json.dumps(identity))  # as it comes back from the file
        self.every_s = self.pause_s = every_s
        self.saved = time.monotonic()
        self.earlier_s = 0.0  # seconds of the training that this one continues

    def due(self) -> bool:
        return time.monotonic() - self.saved >= self.pause_s

    def save(self, tensors: dict[str, Tensor], facts: dict[str, Any]) -> None:
        write_tensors(self.path, tensors, identity=self.identity, facts=facts)
        size = sum(tensor.nbytes for tensor in tensors.values())
        if self.every_s > 0:
            self.pause_s = max(self.every_s, size / BYTES_PER_S)
        self.saved = time.monotonic()

    def load(self, device: torch.device) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
        """Tensors and facts, or None if there is no checkpoint of this run."""
        if not self.path.exists():
            return None
        try:
            arrays, content = read_arrays_and_metadata(self.path)
            identity, facts = content["identity"], content["facts"]
        except (UserError, KeyError, TypeError) as error:
            log.warning("checkpoint %s is damaged (%s): starting over", self.path, error)
            return None
        if different := _differences(identity, self.identity):
            log.warning(
                "checkpoint %s belongs to a different run (%s differ): starting over",
                self.path,
                ", ".join(different),
            )
            return None
        tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
        return {name: t if _on_host(name) else t.to(device) for name, t in tensors.items()}, facts

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)
        remove_leftovers(self.path)


def _on_host(name: str) -> bool:
    """Whether a tensor stays on the host: the steps of an optimiser that reads them there.

    Adam counts on the host unless it is fused, and then moves them itself. On the device, it would
    wait for each of them, twice in every step.
    """
    return name.startswith("optimiser/") and name.endswith("/step")


def _differences(one: Any, other: dict[str, Any]) -> list[str]:
    one = one if isinstance(one, dict) else {}
    return sorted(key for key in {*one, *other} if one.get(key) != other.get(key))


# ---- a training as tensors and facts


def save(training: Training, checkpoint: Checkpoint, trained: Trained) -> None:
    tensors = {f"network/{k}": t for k, t in state_tensors(training.network).items()}
    tensors |= optimiser_tensors(training.optimiser)
    tensors |= {f"generator/{k}": g.get_state() for k, g in training.generators.items()}
    tensors |= {f"kept/{k}": t for k, t in trained.kept.items()}
    facts: dict[str, Any] = {
        "history": trained.history,
        "seconds": trained.seconds,
        "resumed_at": trained.resumed_at,
    }
    if training.scaler is not None:
        facts["scaler"] = training.scaler.state_dict()
    checkpoint.save(tensors, facts)


def resume(training: Training, checkpoint: Checkpoint, trained: Trained) -> int:
    """Continue from the checkpoint, if there is one; returns the number of finished epochs."""
    device = next(training.network.parameters()).device
    loaded = checkpoint.load(device)
    if loaded is None:
        return 0
    tensors, facts = loaded

    def section(prefix: str) -> dict[str, Tensor]:
        return {k.removeprefix(prefix): t for k, t in tensors.items() if k.startswith(prefix)}

    training.network.load_state_dict(section("network/"))
    restore_optimiser(training.optimiser, tensors)
    for name, state in section("generator/").items():
        training.generators[name].set_state(state.cpu())
    if training.scaler is not None:
        training.scaler.load_state_dict(facts["scaler"])
    trained.kept = section("kept/")
    trained.history = facts["history"]
    trained.seconds = checkpoint.earlier_s = facts["seconds"]
    done = len(trained.history)
    trained.resumed_at = [*facts["resumed_at"], done + 1]
    log.info("%s: resumed from %s after epoch %d", training.run, checkpoint.path, done)
    return done


def optimiser_tensors(optimiser: torch.optim.Optimizer) -> dict[str, Tensor]:
    """The optimiser's state by the place of each parameter; every entry must be a tensor."""
    tensors = {}
    for place, entry in optimiser.state_dict()["state"].items():
        for name, value in entry.items():
            if value is not None:
                tensors[f"optimiser/{place}/{name}"] = torch.as_tensor(value)
    return tensors


def restore_optimiser(optimiser: torch.optim.Optimizer, tensors: dict[str, Tensor]) -> None:
    state: dict[int, dict[str, Tensor]] = {}
    for key, tensor in tensors.items():
        if key.startswith("optimiser/"):
            _, place, name = key.split("/")
            state.setdefault(int(place), {})[name] = tensor
    groups = optimiser.state_dict()["param_groups"]
    optimiser.load_state_dict({"state": state, "param_groups": groups})

"""The evaluate stage, the only one that reads test data: a supernet and all its subnetworks."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file

from iunet.artifacts import read_json, write_json
from iunet.data.load import Inputs, Part, load_part, make_inputs
from iunet.evaluation.consistency import consistency
from iunet.evaluation.sizes import sizes
from iunet.method.pruning import lottery_ticket
from iunet.networks import Network, NetworkSpec, build_network
from iunet.scoring.metrics import classification_metrics
from iunet.training.finetune import read_masks, read_members
from iunet.training.loop import predict, stream
from iunet.training.support.environment import describe_environment

log = logging.getLogger(__name__)


class Evaluation:
    """A network with the data it is measured on; it takes one set of weights after the other."""

    def __init__(
        self, inputs: dict[str, str], augment: dict[str, Any] | None, device: torch.device
    ):
        self.description = read_json(inputs["description"])
        self.spec = NetworkSpec(**self.description["network"])
        self.device = device
        self.train, self.valid, self.test = (
            load_part(inputs[part], device) for part in ("train", "valid", "test")
        )
        self.prepare: Inputs = make_inputs(read_json(inputs["preprocessing"]), augment, self.train)
        self.network: Network = build_network(self.spec).to(device)
        self.initial = load_file(inputs["initial"], device=str(device))

    def metrics(self, members: list[dict[str, torch.Tensor]]) -> dict[str, float]:
        """Validation and test metrics of the mean softmax over the members."""
        result = {}
        for name, part in {"valid": self.valid, "test": self.test}.items():
            predicted = self._mean_softmax(members, part).argmax(dim=1).cpu().numpy()
            values = classification_metrics(part.labels.cpu().numpy(), predicted)
            result |= {f"{name}_{key}": value for key, value in values.items()}
        return result

    def _mean_softmax(self, members: list[dict[str, torch.Tensor]], part: Part) -> torch.Tensor:
        total = 0.0
        for member in members:
            self.network.load_state_dict(member)
            total = total + predict(self.network, self.prepare, part).softmax(dim=1)
        return total / len(members)

    def consistency(self, masks: dict[str, np.ndarray]) -> dict[str, dict[str, float]]:
        """Of the untrained mask ⊙ θ† (θ† itself without a mask)."""
        on_device = {
            k: torch.from_numpy(m).to(self.device, torch.float32) for k, m in masks.items()
        }
        self.network.load_state_dict(lottery_ticket(self.initial, on_device))
        # The same draws for every network, so that they differ by the network alone.
        seed = self.description["seed"]
        names = self.prepare.single_transforms()
        generators = {name: stream(seed, f"consistency/{name}", self.device) for name in names}
        return consistency(self.network, self.prepare, self.train, self.test, generators)

    def sizes(self, masks: dict[str, np.ndarray], members: int) -> dict[str, Any]:
        kept = {name: int(mask.sum()) for name, mask in masks.items()}
        return sizes(self.network, self.spec, kept, members)

    def report(self, run: str, results: list[dict[str, Any]], settings: dict[str, Any]):
        return {
            "run": run,
            "dataset": self.description["dataset"],
            "network": self.description["network"],
            "seed": self.description["seed"],
            "settings": settings,
            "results": results,
            "environment": describe_environment(self.device),
        }


def evaluate_supernet(
    inputs: dict[str, str],
    subnetworks: list[dict[str, Any]],
    output: str,
    run: str,
    augment: dict[str, Any],
    settings: dict[str, Any],
    device: torch.device,
) -> None:
    """Evaluate a supernet without pruning, and its fine-tuned subnetworks (one per ratio).

    Each of `subnetworks` has its name (`ratio8`) and paths of its mask, mask_report and weights.
    """
    evaluation = Evaluation(inputs, augment, device)
    supernet = load_file(inputs["supernet"], device=str(device))
    failed = read_json(inputs["supernet_report"])["failed"]
    results = [
        {
            "stage": "supernet",
            "ratio": 1,
            "failed": failed,
            "metrics": {} if failed else evaluation.metrics([supernet]),
            "consistency": evaluation.consistency({}),
            "sizes": evaluation.sizes({}, members=1),
            "disconnected": False,
        }
    ]
    for subnetwork in subnetworks:
        results.append(_evaluate_subnetwork(evaluation, subnetwork))
    _log(run, results)
    write_json(output, evaluation.report(run, results, settings))


def _evaluate_subnetwork(evaluation: Evaluation, subnetwork: dict[str, Any]) -> dict[str, Any]:
    masks = read_masks(subnetwork["mask"], subnetwork["mask_report"])
    mask_report = read_json(subnetwork["mask_report"])
    members = read_members(subnetwork["weights"], masks, evaluation.device)
    failed = mask_report["failed"]
    return {
        "stage": "subnetwork",
        "name": subnetwork["name"],
        "ratio": mask_report["ratio"],
        "failed": failed,
        "metrics": {} if failed else evaluation.metrics(members),
        "consistency": {} if failed else evaluation.consistency(masks),
        "sizes": evaluation.sizes(masks, len(members)),
        "disconnected": mask_report["disconnected"],
        "overlap_with_initial_mask": mask_report["overlap_with_initial_mask"],
    }


def evaluate_dense(
    inputs: dict[str, str],
    output: str,
    run: str,
    settings: dict[str, Any],
    device: torch.device,
) -> None:
    """Evaluate a network that was trained by the fine-tune recipe without a mask."""
    evaluation = Evaluation(inputs, None, device)
    members = read_members(inputs["weights"], {}, device)
    result = {
        "stage": "dense",
        "ratio": 1,
        "failed": None,
        "metrics": evaluation.metrics(members),
        "sizes": evaluation.sizes({}, len(members)),
        "disconnected": False,
    }
    _log(run, [result])
    write_json(output, evaluation.report(run, [result], settings))


def _log(run: str, results: list[dict[str, Any]]) -> None:
    for result in results:
        metrics = result["metrics"]
        if result["failed"]:
            log.warning("%s %s failed: %s", run, result["stage"], result["failed"])
            continue
        log.info(
            "%s %s ratio %s: test accuracy %.3f, balanced %.3f",
            run,
            result["stage"],
            result["ratio"],
            metrics["test_accuracy"],
            metrics["test_balanced_accuracy"],
        )

"""The evaluate stages: of supernets, subnetworks and dense networks. Only they read test data.

Each report is about one network and does not depend on what else the config asks for.
"""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import torch
from torch import Tensor

from iunet.artifacts import read_json, read_tensors, write_json
from iunet.data.load import Inputs, load_part, make_inputs
from iunet.evaluation.consistency import (
    Consistency,
    consistency,
    consistency_of_members,
    mean_consistency,
)
from iunet.evaluation.locality import first_layer
from iunet.evaluation.sizes import sizes
from iunet.method.masks import read_masks
from iunet.method.pruning import lottery_ticket
from iunet.networks.network import Network, NetworkSpec, build_network
from iunet.scoring.metrics import classification_metrics
from iunet.scoring.prediction import mean_softmax
from iunet.training.initial import fresh_weights
from iunet.training.loop import stream
from iunet.training.members import on, read_members
from iunet.training.support.environment import describe_environment

log = logging.getLogger(__name__)
FRESH_DRAWS = 3
DECODER = "trained on the frozen encoder"


class Evaluation:
    """A network and the data it is measured on; different weights are loaded into it in turn."""

    def __init__(self, inputs: dict[str, str], augment: dict[str, Any], device: torch.device):
        self.description = read_json(inputs["description"])
        self.spec = NetworkSpec(**self.description["network"])
        self.device = device
        self.train, self.valid, self.test = (
            load_part(inputs[part], device) for part in ("train", "valid", "test")
        )
        self.preprocessing = read_json(inputs["preprocessing"])
        self.prepare: Inputs = make_inputs(self.preprocessing, device, augment, self.train)
        self.network: Network = build_network(self.spec).to(device)
        self.initial = read_tensors(inputs["initial"], device)

    def trained(
        self,
        members: list[dict[str, Tensor]],
        masks: dict[str, np.ndarray],
        failed: str | None = None,
    ) -> dict[str, Any]:
        """Metrics on valid and test and the consistency, of the mean softmax over trained members.

        BatchNorm uses the running statistics of the training. A failed training has its sizes only.
        """
        facts = {"failed": failed, "sizes": sizes(self.spec, masks, len(members))}
        if failed:
            return {**facts, "metrics": {}, "trained_consistency": {}}
        metrics, predicted = {}, {}
        for name, part in {"valid": self.valid, "test": self.test}.items():
            probabilities = mean_softmax(self.network, members, self.prepare, part)
            predicted[name] = probabilities.argmax(dim=1)
            labels = part.labels.cpu().numpy()
            values = classification_metrics(labels, predicted[name].cpu().numpy())
            metrics |= {f"{name}_{key}": value for key, value in values.items()}
        same = consistency_of_members(
            self.network, members, self.prepare, self.test, predicted["test"], self.draws()
        )
        return {**facts, "metrics": metrics, "trained_consistency": same}

    def untrained(self, weights: dict[str, Tensor], masks: dict[str, np.ndarray]) -> Consistency:
        """The consistency of untrained weights under a mask."""
        self.network.load_state_dict(lottery_ticket(weights, on(self.device, masks)))
        return consistency(self.network, self.prepare, self.train, self.test, self.draws())

    def fresh_consistency(self, masks: dict[str, np.ndarray]) -> Consistency:
        """The mean consistency of the untrained mask ⊙ θ over fresh draws of θ."""
        draws = range(1, FRESH_DRAWS + 1)
        fresh = (fresh_weights(self.description, self.device, draw) for draw in draws)
        return mean_consistency([self.untrained(weights, masks) for weights in fresh])

    def draws(self) -> dict[str, torch.Generator]:
        """A generator per transform; every network sees the same draws."""
        seed, names = self.description["seed"], self.prepare.single_transforms()
        return {name: stream(seed, f"consistency/{name}", self.device) for name in names}

    def first_layer(self, masks: dict[str, np.ndarray]) -> dict[str, Any] | None:
        """How local, or how selective, the first layer's mask is."""
        columns = self.preprocessing.get("groups")  # of a table
        groups = columns and [list(range(group["start"], group["stop"])) for group in columns]
        image = None if groups else tuple(self.test.raw.shape[1:])
        return first_layer(next(iter(masks.values())), groups, image)

    def write(self, path: str, run: str, result: dict[str, Any]) -> None:
        """Write the report: which network it is about, and the result."""
        stage, metrics = result["stage"], result["metrics"]
        if result["failed"]:
            log.warning("%s %s failed: %s", run, stage, result["failed"])
        else:
            scores = metrics["test_accuracy"], metrics["test_balanced_accuracy"]
            log.info("%s %s: test accuracy %.3f, balanced %.3f", run, stage, *scores)
        head = {
            "run": run,
            "dataset": self.description["dataset"],
            "network": self.description["network"],
            "seed": self.description["seed"],
        }
        write_json(path, head | result | {"environment": describe_environment(self.device)})


def evaluate_supernet(
    inputs: dict[str, str], output: str, run: str, augment: dict[str, Any], device: torch.device
) -> None:
    """Evaluate a trained supernet without pruning, and the untrained θ†.

    If `inputs` names a decoder, it replaces the supernet's own, which was not trained.
    """
    evaluation = Evaluation(inputs, augment, device)
    supernet = read_tensors(inputs["supernet"], device)
    decoders = read_members(inputs["decoder"], {}, device) if "decoder" in inputs else [{}]
    members = [supernet | decoder for decoder in decoders]
    result = {
        "stage": "supernet",
        "ratio": 1,
        "decoder": DECODER if "decoder" in inputs else "its own",
        **evaluation.trained(members, {}, read_json(inputs["supernet_report"])["failed"]),
        "consistency": evaluation.untrained(evaluation.initial, {}),
        "disconnected": False,
    }
    evaluation.write(output, run, result)


def evaluate_subnetwork(
    inputs: dict[str, str], output: str, run: str, augment: dict[str, Any], device: torch.device
) -> None:
    """Evaluate a fine-tuned subnetwork, the untrained mask ⊙ θ†, and the mask on fresh weights."""
    evaluation = Evaluation(inputs, augment, device)
    masks = read_masks(inputs["mask"], inputs["mask_report"])
    mask_report = read_json(inputs["mask_report"])
    members = read_members(inputs["weights"], masks, device)
    failed = mask_report["failed"]
    result = {
        "stage": "subnetwork",
        "ratio": mask_report["ratio"],
        **evaluation.trained(members, masks, failed),
        "consistency": {} if failed else evaluation.untrained(evaluation.initial, masks),
        "fresh_consistency": {} if failed else evaluation.fresh_consistency(masks),
        "disconnected": mask_report["disconnected"],
        "overlap_with_initial_mask": mask_report["overlap_with_initial_mask"],
        "first_layer_mask": None if failed else evaluation.first_layer(masks),
    }
    evaluation.write(output, run, result)


def evaluate_dense(
    inputs: dict[str, str], output: str, run: str, augment: dict[str, Any], device: torch.device
) -> None:
    """Evaluate a network that was trained by the fine-tune recipe without a mask.

    The reports of the supernets have its untrained θ†.
    """
    evaluation = Evaluation(inputs, augment, device)
    trained = evaluation.trained(read_members(inputs["weights"], {}, device), {})
    result = {"stage": "dense", "ratio": 1, **trained, "disconnected": False}
    evaluation.write(output, run, result)

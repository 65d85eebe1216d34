"""Prediction that makes no use of sparsity: the reference, and what fast prediction is compared to.

The dense forms take the network's inputs and return probabilities, as `FastModel` does. BatchNorm
is folded in them too, so that they are the fastest of their kind.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
import torch.nn.functional as F

from iunet.deploy.folded import FoldedModel, Layer
from iunet.deploy.model import PrunedModel
from iunet.networks.network import NetworkSpec

Predict = Callable[[np.ndarray], np.ndarray]


@torch.no_grad()
def reference_probabilities(model: PrunedModel, inputs: np.ndarray) -> np.ndarray:
    """The mean softmax of the members as they were trained, BatchNorm and all."""
    shape = NetworkSpec(**model.network).input_shape()
    x = torch.from_numpy(inputs).reshape(len(inputs), *shape)
    softmaxes = [network(x).softmax(dim=1) for network in model.networks()]
    return (sum(softmaxes) / len(softmaxes)).numpy()


def dense_torch(model: FoldedModel) -> Predict:
    members = [
        [
            (torch.from_numpy(layer.weights(m)), torch.from_numpy(layer.biases[m]))
            for layer in model.layers
        ]
        for m in range(model.n_members)
    ]

    @torch.no_grad()
    def probabilities(inputs: np.ndarray) -> np.ndarray:
        x = torch.from_numpy(inputs)
        total = torch.zeros(len(x), len(model.model.classes))
        for layers in members:
            h = x
            for weights, biases in layers[:-1]:
                h = F.linear(h, weights, biases).relu_()
            total += F.linear(h, *layers[-1]).softmax(dim=1)
        return (total / len(members)).numpy()

    return probabilities


def in_onnxruntime(model: FoldedModel, layers: list[Layer]) -> Predict:
    """These layers of the model in onnxruntime, on one thread."""
    import onnxruntime

    from iunet.deploy.onnx import INPUTS, PROBABILITIES, build_onnx_network

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    built = build_onnx_network(model, layers).SerializeToString()
    session = onnxruntime.InferenceSession(built, options, providers=["CPUExecutionProvider"])
    return lambda inputs: session.run([PROBABILITIES], {INPUTS: inputs})[0]

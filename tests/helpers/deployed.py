"""Small models as they are shipped, with random weights, and a table with all that can go wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import torch
from torch import nn

from iunet.data.load import TabularInputs, table_part
from iunet.data.preprocess import (
    Preprocessing,
    apply_preprocessing,
    dictionary_codes,
    fit_preprocessing,
    float_values,
)
from iunet.deploy.model import PrunedModel
from iunet.deploy.onnx import missing_text
from iunet.method.masks import compress_weights
from iunet.networks.network import NetworkSpec, build_network, encoder_weights

TABULAR = NetworkSpec("mlp_tab", 3, n_inputs=7, options={"width": 24, "depth": 3}).to_json()
VISION = NetworkSpec("mlp_vis", 3, side=8, options={"alpha": 1}).to_json()
CLASSES = ["no", "yes", "perhaps"]


def random_model(
    network: dict[str, Any],
    preprocessing: dict[str, Any] | None = None,
    members: int = 3,
    density: float = 0.2,
    classes: list[Any] = CLASSES,
) -> PrunedModel:
    """Random weights, statistics and mask; some units are dead on either side."""
    rng = np.random.default_rng(0)
    torch.manual_seed(0)
    states, masks = [], {}
    for _ in range(members):
        built = build_network(NetworkSpec(**network))
        for module in built.modules():
            if isinstance(module, nn.modules.batchnorm._BatchNorm):
                module.running_mean.normal_()
                module.running_var.uniform_(0.5, 2)
                nn.init.normal_(module.weight)
                nn.init.normal_(module.bias)
        masks = masks or {
            name: random_mask(tuple(w.shape), density, rng)
            for name, w in encoder_weights(built).items()
        }
        state = {name: tensor.numpy().copy() for name, tensor in built.state_dict().items()}
        # Larger than initial weights: the output has to depend on the inputs through all layers.
        larger = {n: 4 * a if n in masks else a for n, a in state.items()}
        states.append(compress_weights(larger, masks))
    return PrunedModel(preprocessing or {}, network, states, masks, classes, {"dataset": "random"})


def random_mask(shape: tuple[int, int], density: float, rng: np.random.Generator) -> np.ndarray:
    mask = rng.random(shape) < density
    mask[:2] = False  # no incoming weights
    if shape[1] > 6:
        mask[:, 2:6] = False  # of the layer before: no outgoing ones
    return mask


# ---- tables


def awkward_table(n: int = 60) -> pa.Table:
    """Numbers large and small, missing values, levels that train never had, an empty column."""
    rng = np.random.default_rng(1)
    levels = np.array(["red", "green", "blue", "grün", "", "never in train"])
    colour = np.where(np.arange(n) < n // 2, rng.integers(0, 5, n), rng.integers(0, 6, n))
    size = rng.normal(1e9, 3, n)
    size[::7] = np.nan
    return pa.table(
        {
            "size": pa.array(size, from_pandas=True),
            "count of/things": pa.array(rng.integers(-5, 5, n)),
            "constant": pa.array(np.full(n, 0.1)),
            "nothing": pa.nulls(n, pa.float64()),
            "label": pa.array(levels[colour], mask=np.arange(n) % 9 == 0).dictionary_encode(),
            "often missing": pa.array(
                [None if i % 3 else f"v{i % 12}" for i in range(n)]
            ).dictionary_encode(),
            "numbers0": pa.array([f"w{i % 11}" for i in range(n)]).dictionary_encode(),
        }
    )


def fitted_on(table: pa.Table, n_train: int, max_categories: int = 5) -> dict[str, Any]:
    """The preprocessing, fitted on the first rows, as a split holds it."""
    fitted = fit_preprocessing(table, np.arange(n_train), max_categories)
    return {"kind": "tabular", **fitted.to_json()}


def network_inputs(preprocessing: dict[str, Any], table: pa.Table) -> np.ndarray:
    fitted, cpu = Preprocessing.from_json(preprocessing), torch.device("cpu")
    rows = table_part(apply_preprocessing(fitted, table, np.arange(table.num_rows)), cpu)
    return TabularInputs(preprocessing, cpu).prepare(rows.raw).numpy()


def onnx_inputs(preprocessing: dict[str, Any], table: pa.Table) -> dict[str, np.ndarray]:
    """The rows of a checked table as the inputs that the ONNX model takes."""
    fitted, missing = Preprocessing.from_json(preprocessing), missing_text(preprocessing)
    inputs = {c.name: float_values(table.column(c.name))[:, None] for c in fitted.numeric}
    for column in fitted.categorical:
        codes, levels = dictionary_codes(table.column(column.name))
        texts = np.array([*levels, missing], dtype=object)  # code -1 is the last
        inputs[column.name] = texts[codes][:, None]
    return inputs


def model_for(preprocessing: dict[str, Any], **changes: Any) -> PrunedModel:
    network = {**TABULAR, "n_inputs": preprocessing["n_inputs"]}
    return random_model(network, preprocessing, **changes)

"""Whether XGBoost can use a GPU here: asked before, since it does not say so itself.

Where it finds none, XGBoost trains on the CPU without an error, while the job holds a GPU and its
report says cuda.
"""

from __future__ import annotations

import json

from iunet.errors import UserError


def check_xgboost_gpu() -> None:
    if (used := device_that_xgboost_uses()) != "cuda":
        raise UserError(
            f"The config key 'devices.xgb' is cuda, but XGBoost uses the {used} here: it was built "
            "without CUDA, or finds no GPU. Set the key to cpu."
        )


def device_that_xgboost_uses() -> str:
    """Of a model of one round, asked to be trained with CUDA: `cuda` (of `cuda:0`) or `cpu`."""
    import numpy as np
    import xgboost

    rows = xgboost.DMatrix(np.array([[0.0], [1.0]]), np.array([0.0, 1.0]))
    asked = {"device": "cuda", "tree_method": "hist", "verbosity": 0}
    try:
        model = xgboost.train(asked, rows, 1)
    except xgboost.core.XGBoostError:  # a build without CUDA
        return "cpu"
    device = json.loads(model.save_config())["learner"]["generic_param"]["device"]
    return device.partition(":")[0]

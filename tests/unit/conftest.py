"""What several figures are drawn from."""

from __future__ import annotations

import numpy as np
import pytest
from figure_inputs import (
    METHODS,
    evaluation,
    histogram,
    trained,
    trials,
)


@pytest.fixture
def sweep(tmp_path) -> list[dict]:
    """Two data sets, all methods, two seeds; values say which point they are of."""
    return [
        evaluation(tmp_path, dataset, method, seed, {1: 50 + i, 2: 60 + i + seed, 8: 40 + i - seed})
        for dataset in ("cifar10", "svhn")
        for i, method in enumerate(METHODS)
        for seed in (0, 1)
    ]


@pytest.fixture
def histograms(tmp_path) -> list[dict]:
    return [
        histogram(tmp_path, "svhn", "kappa0.25-sup", 0, [[10, 10, 0, 0], [0, 10, 10, 0]]),
        histogram(tmp_path, "svhn", "kappa0.25-sup", 1, [[20, 0, 0, 0], [0, 10, 10, 0]]),
        histogram(tmp_path, "svhn", "kappa1-sup", 0, [[0, 0, 5, 15], [0, 0, 10, 10]]),
    ]


@pytest.fixture
def layers(tmp_path) -> tuple[list[dict], list[dict]]:
    """Networks of 2 × 2 images with 8 units, and of tables with 6 inputs and 5 units."""
    units = np.arange(1, 9)[:, None] * -np.linspace(0.1, 1.2, 12)[None, :]
    units[0] *= 100  # the largest norm
    image = [
        trained(tmp_path, "cifar10", "iunet", units, side=2, channels=3),
        trained(tmp_path, "cifar10", "omp", units / 2, side=2, channels=3),
    ]
    table = np.arange(30).reshape(5, 6) - 15.0
    tabular = [
        trained(tmp_path, "arrhythmia", "iunet", table),
        trained(tmp_path, "arrhythmia", "omp", table / 3),
    ]
    return image, tabular


@pytest.fixture
def studies(tmp_path) -> list[dict]:
    return [
        trials(
            tmp_path,
            "xgb",
            [
                "1,complete,70.5,1,1,,,0.1",
                "0,failed,,2.5,,out of memory,,0.2",
                "2,complete,65,1,1,,time_limit,0.3",
                "3,complete,80,1,1,,,0.3",
            ],
            budget=40,
        ),
        trials(tmp_path, "tabnet", ["0,complete,60,1,1,,,0.1", "1,complete,61,1,1,,,0.1"], 2),
        trials(tmp_path, "mlp_c", ["0,failed,,,,died,,0.1"], 1),
    ]

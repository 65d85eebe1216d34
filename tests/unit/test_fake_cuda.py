"""The real training code on a GPU that is not there: fake tensors that claim to lie on one.

Shown are devices, waits, types of numbers, counts of kernels, and bytes; by which estimates of time
and memory are checked. Not shown are real kernels, speed, and several GPUs
(tests/helpers/fake_cuda/recorder.py).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from conftest import ROOT
from fake_cuda.cases import TRAININGS

from iunet.baselines.catalog import MLP_C_KERNELS, TABNET_KERNELS
from iunet.data.sizes import Data
from iunet.machine import resources
from iunet.method.catalog import BETA_LASSO, FINETUNING, IN_HALF_PRECISION, OBJECTIVES
from iunet.networks.catalog import Size, network_entry

DRIVE = ROOT / "tests" / "helpers" / "fake_cuda"
BATCH = 128
TABLE, IMAGES = Data(256, 0, 0, 23, 10), Data(256, 0, 0, 3 * 32**2, 10, 32)
STEPS = OBJECTIVES | {"lasso": BETA_LASSO, "finetune": FINETUNING, "half": IN_HALF_PRECISION}
MLP_C = ("cocktail", "cocktail all", "cocktail cutmix", "cocktail cutout")
OTHERS = ("decoder", "consistency", *MLP_C, "tabnet")
LIBRARYS_OWN = ["_to_copy cpu to cuda:0"]  # TabNet's constants, which its library makes on the host


@pytest.fixture(scope="module")
def recorded(tmp_path_factory) -> dict[str, dict]:
    """What the recorder says of every case: compiled once, and run in a process of its own."""
    if torch.version.cuda:
        pytest.skip("this torch has a real CUDA")
    compiler = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++")
    headers = Path(torch.__file__).parent / "include"
    if compiler is None or not (headers / "ATen").is_dir():
        pytest.skip("no C++ compiler here, or no headers of torch")
    hooks, libraries = tmp_path_factory.mktemp("fake_cuda") / "hooks.so", headers.parent / "lib"
    build = [compiler, "-std=c++20", "-O0", "-shared", "-fPIC", f"-I{headers}", DRIVE / "hooks.cpp"]
    built = subprocess.run(
        [*build, "-o", hooks, f"-L{libraries}", "-ltorch_cpu", "-lc10"],
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stderr[-2000:]
    run = subprocess.run(
        [sys.executable, DRIVE / "recorder.py", hooks],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    return json.loads(run.stdout)


def size_of(case: str) -> tuple[Data, Size]:
    name, options, _ = TRAININGS[case]
    data = TABLE if name == "mlp_tab" else IMAGES
    return data, network_entry(name).size(options, data)


def test_every_case_is_looked_at(recorded):
    assert set(recorded) == {*TRAININGS, *OTHERS}


@pytest.mark.parametrize("case", [*TRAININGS, *OTHERS])
def test_nothing_lies_on_the_wrong_device_and_no_step_waits(recorded, case):
    """BatchNorm stays in float32 beside 16-bit products; an evaluation may read its results."""
    found = recorded[case]
    assert found["wrong"] == []
    assert set(found["norm_types"]) <= {"torch.float32"}
    if case != "consistency":
        assert found["waits"] == (LIBRARYS_OWN if case == "tabnet" else [])


@pytest.mark.parametrize("case", TRAININGS)
def test_kernels_of_a_step_are_those_of_the_estimate(recorded, case):
    data, size = size_of(case)
    objective = STEPS[TRAININGS[case][2]]
    estimated = resources.kernels(size.layers, objective, bool(data.side))
    assert recorded[case]["kernels"] == pytest.approx(estimated, rel=0.1)


def test_kernels_of_tuned_learners(recorded):
    assert recorded["cocktail"]["kernels"] == pytest.approx(MLP_C_KERNELS, rel=0.1)
    assert 2 * recorded["tabnet"]["kernels"] == pytest.approx(TABNET_KERNELS, rel=0.1)  # 3 steps


@pytest.mark.parametrize("case", [case for case in TRAININGS if " mlp_vis " in case])
def test_bytes_of_a_step_are_those_of_the_estimate(recorded, case):
    """Of the network that is bound by them; small ones are bound by their launches."""
    moved = resources.moved_mb(size_of(case)[1], STEPS[TRAININGS[case][2]])
    assert recorded[case]["mb"] == pytest.approx(moved, rel=0.1)


@pytest.mark.parametrize("case", TRAININGS)
def test_a_training_fits_on_the_card_as_estimated(recorded, case):
    """Beside CUDA's own share; and the estimate is not so high that places stay empty."""
    data, size = size_of(case)
    epochs = resources.Epochs(1, BATCH, members=int(case.startswith("finetune")))
    cost = resources.training_cost(data, size, epochs, STEPS[TRAININGS[case][2]], "cuda")
    peak, estimated = recorded[case]["peak_mb"], cost.gpu_mb - resources.CONTEXT_MB
    assert peak <= estimated
    assert size.parameters < 50e6 or estimated < 1.6 * peak

"""What a GPU would break, shown without one: which device is used, and how."""

from __future__ import annotations

import platform
import sys
from types import SimpleNamespace

import pytest
import torch
from configs import ROOT, merged
from snakemake.iocontainers import OutputFiles, Wildcards

from iunet.baselines.catalog import LEARNERS
from iunet.baselines.learner import Machine
from iunet.errors import UserError
from iunet.machine import device
from iunet.machine.time_limit import SENT
from iunet.training import supernet
from iunet.training.support.checkpoint import Checkpoint, optimiser_tensors, restore_optimiser
from iunet.training.support.environment import describe_environment, set_up_torch

CONFIG = {"device": "auto", "devices": {"xgb": "cpu"}}


@pytest.fixture
def two_gpus(tmp_path, monkeypatch):
    """Two in the driver's list, and a torch that can use them."""
    for i in range(2):
        (tmp_path / "gpus" / str(i)).mkdir(parents=True)
    monkeypatch.setenv("IUNET_GPU_LIST", str(tmp_path / "gpus"))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    monkeypatch.setenv(device.ANSWER, f"{platform.node()}|")


# ---- which GPUs there are


@pytest.mark.parametrize(
    ("visible", "expected"),
    [
        ("0,1", ["0", "1"]),
        ("-1", []),
        ("NoDevFiles", []),
        ("1,-1,0", ["1"]),  # CUDA, too, ends the list there
        ("GPU-8932f937,MIG-41b35d8d", ["GPU-8932f937", "MIG-41b35d8d"]),
        ("MIG-1,MIG-2,MIG-3", ["MIG-1", "MIG-2", "MIG-3"]),  # parts of one card
        ("", []),
    ],
)
def test_what_cuda_visible_devices_leaves(two_gpus, monkeypatch, visible, expected):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert device.gpu_ids() == expected


@pytest.fixture
def one_gpu(tmp_path, monkeypatch):
    """A driver's tool that tells of one, and a list of the driver's that is empty."""
    tool = tmp_path / "nvidia-smi"
    tool.write_text('#!/bin/sh\ncase "$1" in *memory*) echo 8192;; *) echo "RTX 4090";; esac\n')
    tool.chmod(0o755)
    (tmp_path / "gpus").mkdir()
    monkeypatch.setattr(device, "NVIDIA_GPUS", tmp_path / "gpus")
    monkeypatch.setattr(device, "WSL", tmp_path / "absent")
    monkeypatch.setattr(device, "WSL_TOOLS", tmp_path)
    for name in ("CUDA_VISIBLE_DEVICES", "SLURM_JOB_ID", "IUNET_GPU_LIST"):
        monkeypatch.delenv(name, raising=False)
    device._ask_driver.cache_clear()
    yield
    device._ask_driver.cache_clear()


def test_the_gpu_of_wsl(one_gpu, tmp_path, monkeypatch):
    """There the driver has no list, but nvidia-smi has."""
    assert device.gpu_ids() == []
    monkeypatch.setattr(device, "WSL", tmp_path)  # anything that exists
    assert device.gpu_ids() == ["0"]


def test_a_container_lists_all_gpus_of_its_host_and_may_use_one(one_gpu, tmp_path):
    for i in range(8):
        (tmp_path / "gpus" / str(i)).mkdir()
    assert device.gpu_ids() == ["0"]


@pytest.mark.parametrize(
    ("largest_mb", "places", "said"),
    [(2500, 3, None), (2500, 4, "Set it to 3."), (9000, 1, "Set another device for that network")],
)
def test_the_start_says_how_many_jobs_fit_on_a_card(
    one_gpu, tmp_path, monkeypatch, largest_mb, places, said
):
    (tmp_path / "gpus" / "0").mkdir()
    with monkeypatch.context() as patch:
        patch.setenv("CUDA_VISIBLE_DEVICES", "MIG-1")  # a part of the card, of unknown size
        assert device.places_warning({"jobs_per_gpu": places}, largest_mb) is None
    warning = device.places_warning({"jobs_per_gpu": places}, largest_mb)
    assert warning is None if said is None else said in warning and "8,192 MB" in warning


# ---- whether torch can use them


def test_auto_leaves_a_gpu_alone_that_torch_cannot_use(two_gpus, monkeypatch):
    assert device.resolve_device("auto") == "cuda"
    assert device.unusable_gpu_warning(CONFIG) is None
    with monkeypatch.context() as patch:
        patch.setenv("CUDA_VISIBLE_DEVICES", "")
        assert device.resolve_device("auto") == "cpu"
    monkeypatch.setenv(device.ANSWER, f"{platform.node()}|the driver is too old")
    assert device.resolve_device("auto") == "cpu"
    assert device.resolve_device("cuda") == "cuda"  # who says so gets an error instead
    warning = device.unusable_gpu_warning(CONFIG)
    assert "2 NVIDIA GPU(s)" in warning and "the driver is too old" in warning
    assert device.unusable_gpu_warning({**CONFIG, "device": "cpu"}) is None


def test_the_answer_of_another_machine_does_not_count(two_gpus, monkeypatch):
    monkeypatch.setenv(device.ANSWER, "login7|no GPU there")
    monkeypatch.setattr(device, "_probe", lambda: "")
    assert device.why_torch_cannot() == ""
    monkeypatch.setattr(device, "_probe", lambda: 1 / 0)  # asked once, and handed on
    assert device.why_torch_cannot() == ""


def test_the_probe_says_what_torch_says():
    built = torch.version.cuda
    said = "torch.cuda.is_available() is False" if built else "is a build without CUDA"
    assert said in device._probe()


# ---- a device for each network and learner


def test_devices_of_single_networks(two_gpus):
    config = {"device": "auto", "devices": {"xgb": "cpu", "mlp_tab": "cpu"}}
    given = {name: device.device_of(config, name) for name in ("mlp_vis", "mlp_tab", "xgb")}
    assert given == {"mlp_vis": "cuda", "mlp_tab": "cpu", "xgb": "cpu"}


def test_auto_is_no_answer_on_a_node_of_a_cluster_without_a_gpu(tmp_path, monkeypatch):
    """Snakemake was started where no GPU is seen: all trainings would run on the CPU, unasked."""
    monkeypatch.setenv("IUNET_GPU_LIST", str(tmp_path))
    assert device.device_of_job(CONFIG, "mlp_tab") == "cpu"
    monkeypatch.setenv(SENT, "1")
    assert device.device_of_job(CONFIG, "xgb") == "cpu"
    with pytest.raises(UserError, match=r"'device' is 'auto', but this job was sent to .* no GPU"):
        device.device_of_job(CONFIG, "mlp_tab")


def test_cuda_is_tried_before_it_is_used(monkeypatch):
    """As by a build that knows the driver, and has no kernels for the card."""
    with pytest.raises(UserError, match=r"asks for cuda, but torch .* it sees no GPU and says"):
        set_up_torch("cuda", 1, 1)
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: (7, 0))
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "Tesla V100")
    monkeypatch.setattr(torch.cuda, "get_arch_list", lambda: ["sm_75", "sm_80"])
    wanted = r"built for sm_75 sm_80\) cannot compute on a GPU here: it sees Tesla V100 \(sm_70\)"
    with pytest.raises(UserError, match=wanted):
        set_up_torch("cuda", 1, 1)


def test_xgboost_without_a_gpu_is_refused_instead_of_running_on_the_cpu():
    with pytest.raises(UserError, match=r"'devices\.xgb' is cuda, but XGBoost runs on cpu"):
        device.check_xgboost_gpu()


# ---- threads


def test_a_job_says_what_the_machine_lacks(tmp_path, monkeypatch):
    """Fewer cores than a training's threads, and no GPU, as a job finds them."""
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)  # _job has its own
    monkeypatch.syspath_prepend(ROOT / "workflow" / "scripts")
    monkeypatch.setenv("IUNET_GPU_LIST", str(tmp_path))
    from _job import Job

    def job(name: str, **changes) -> Job:
        files = OutputFiles(fromdict={"weights": "weights.safetensors"})
        point = Wildcards(fromdict={"learner" if name in LEARNERS else "network": name})
        config = merged("test", **changes)
        return Job(SimpleNamespace(input=files, output=files, params={}, wildcards=point,
                                   config=config, threads=2))  # fmt: skip

    with pytest.raises(UserError, match=r"'train\.threads' is 3, but this job was given 2"):
        job("mlp_tab-depth3", train={"threads": 3}).torch_device()
    with pytest.raises(UserError, match=r"'tuning\.xgb\.threads' is 8, but this job was given 2"):
        job("xgb", tuning={"xgb": {"threads": 8}}).machine()
    assert job("mlp_c").machine() == Machine("cpu", 2)
    with pytest.raises(UserError, match=r"'devices\.mlp_tab' is 'cuda', but this job sees no"):
        job("mlp_tab-depth3", devices={"mlp_tab": "cuda"}).torch_device()


# ---- TF32, Adam's steps, histograms


def test_tf32_is_one_setting_for_products_and_convolutions():
    for tf32 in (True, False):
        set_up_torch("cpu", 1, 1, tf32)
        backends = torch.backends.cuda.matmul, torch.backends.cudnn
        assert [backend.allow_tf32 for backend in backends] == [tf32, tf32]
    assert describe_environment(torch.device("cpu"))["tf32"] is False


def test_steps_of_a_resumed_adam_stay_on_the_host(tmp_path):
    """On a device that has no numbers (`meta`), so that reading one there would be an error."""
    layer = torch.nn.Linear(3, 2)
    adam = torch.optim.Adam(layer.parameters())
    layer(torch.ones(4, 3)).sum().backward()
    adam.step()
    checkpoint = Checkpoint(tmp_path / "adam.checkpoint", {})
    checkpoint.save(optimiser_tensors(adam), {})
    there = torch.nn.Linear(3, 2, device="meta")
    resumed = torch.optim.Adam(there.parameters())
    restore_optimiser(resumed, checkpoint.load(torch.device("meta"))[0])
    state = resumed.state[there.weight]
    assert state["step"].device.type == "cpu" and state["step"].item() == 1
    assert state["exp_avg"].device.type == "meta"
    there(torch.ones(4, 3, device="meta")).sum().backward()
    resumed.step()
    fused = torch.optim.AdamW(layer.parameters(), fused=True)  # its steps go to the device
    restore_optimiser(fused, checkpoint.load(torch.device("cpu"))[0])
    fused.step()
    assert fused.state[layer.weight]["step"].item() == 2


def test_histograms_count_beyond_what_a_float_can(monkeypatch):
    """Parts of 2²⁴ weights are counted exactly; here of 8, and the sum is the same."""
    generator = torch.Generator().manual_seed(0)
    weights = {
        "a": torch.randn(7, 5, generator=generator),
        "b": torch.randn(3, generator=generator),
    }
    whole = supernet.magnitude_histogram(weights)
    assert whole.sum() == 38
    monkeypatch.setattr(supernet, "EXACT", 8)
    assert torch.equal(supernet.magnitude_histogram(weights), whole)
    assert torch.tensor(2.0**24) + 1 == 2.0**24  # why


# ---- checkpoints


def test_large_checkpoints_are_made_less_often(tmp_path, monkeypatch):
    checkpoint = Checkpoint(tmp_path / "a.checkpoint", {}, every_s=1.0)
    checkpoint.save({"network/a": torch.zeros(10)}, {})
    assert checkpoint.pause_s == 1.0
    monkeypatch.setattr("iunet.training.support.checkpoint.BYTES_PER_S", 4.0)
    checkpoint.save({"network/a": torch.zeros(10)}, {})
    assert checkpoint.pause_s == 10.0
    now = checkpoint.saved
    monkeypatch.setattr("iunet.training.support.checkpoint.time.monotonic", lambda: now + 9)
    assert not checkpoint.due()
    monkeypatch.setattr("iunet.training.support.checkpoint.time.monotonic", lambda: now + 10)
    assert checkpoint.due()

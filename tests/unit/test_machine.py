"""What jobs ask for, how they are grouped, which GPU they get, and what the plan says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest
import torch
import yaml
from configs import benchmark, merged
from conftest import ROOT
from torch.utils.flop_counter import FlopCounterMode
from toy_run import Toy

from iunet.baselines.catalog import LEARNERS
from iunet.data.registry import Dataset, read_registry
from iunet.data.sizes import Data, data_size
from iunet.errors import UserError
from iunet.machine import gpu_slot, resources
from iunet.machine.resources import Epochs
from iunet.method.catalog import OBJECTIVES
from iunet.networks.catalog import network_entry
from iunet.networks.network import NetworkSpec, build_network
from iunet.runs.costs import GROUPS, Costs

REGISTRY = read_registry([ROOT / "config" / "datasets.csv"])
IMAGES = Data(40_000, 10_000, 10_000, 3 * 32**2, 10, 32)
SUP, ILO = OBJECTIVES["sup"], OBJECTIVES["ilo"]
LONG = Epochs(100, 128)


# ---- sizes


@pytest.mark.parametrize(
    ("name", "options", "data"),
    [
        ("mlp_tab", {"width": 512, "depth": 9}, Data(507, 169, 169, 18, 4)),
        ("mlp_tab", {"width": 16, "depth": 2}, Data(106, 36, 36, 13, 3)),
        ("mlp_vis", {"alpha": 1}, IMAGES),
        ("cnn", {"alpha": 8}, IMAGES),
        ("cnn", {"alpha": 1}, Data(10, 10, 10, 3 * 28**2, 5, 28)),
        ("resnet18", {"width": 1.0}, IMAGES),
        ("resnet18", {"width": 0.125}, IMAGES),
    ],
)
def test_networks_are_as_large_as_torch_builds_them(name, options, data):
    spec = NetworkSpec(
        name,
        data.n_classes,
        n_inputs=0 if data.side else data.n_inputs,
        side=data.side,
        options=options,
    )
    network, ours = build_network(spec).eval(), network_entry(name).size(options, data)
    assert ours.parameters == sum(p.numel() for p in network.parameters())
    with FlopCounterMode(display=False) as counter:
        network(torch.zeros(1, *spec.input_shape()))
    assert ours.linear_flops + ours.conv_flops == counter.get_total_flops()


def test_data_are_known_before_they_are_there(tmp_path):
    cifar = data_size(REGISTRY["cifar10"], str(tmp_path))
    assert (cifar.n_train, cifar.n_test, cifar.n_inputs) == (40_000, 10_000, 3072)
    assert data_size(REGISTRY["vehicle"], str(tmp_path)).n_train == 507
    embedded = data_size(REGISTRY["wine"], str(tmp_path))
    own = data_size(Dataset("mine", "tabular", "file", "mine.csv", "label"), str(tmp_path))
    assert embedded.n_rows < own.n_rows
    table = tmp_path / "long.csv"
    table.write_text("a,b,label\n" + "1.25,red,yes\n" * 20_000, encoding="utf-8")
    own = data_size(Dataset("long", "tabular", "file", str(table), "label"), str(tmp_path))
    assert (own.n_rows, own.n_test, own.n_inputs) == (20_000, 4_000, 6)


def test_subsets_of_a_mirror_count_with_their_own_size(tmp_path):
    for kind, head, row in (
        ("vision", "name,file,sha256,n_train,n_test", "cifar10,c.npz,0,10000,3000"),
        ("tabular", "name,file,sha256,n_rows", "vehicle,v.parquet,0,100"),
    ):
        (tmp_path / kind).mkdir()
        (tmp_path / kind / "index.csv").write_text(f"{head}\n{row}\n")
    images = data_size(REGISTRY["cifar10"], "", str(tmp_path))
    assert (images.n_train, images.n_valid, images.n_test) == (8_000, 2_000, 3_000)
    table = data_size(REGISTRY["vehicle"], "", str(tmp_path))
    assert (table.n_train, table.n_valid, table.n_test) == (60, 20, 20)
    assert data_size(REGISTRY["kc1"], "", str(tmp_path)) == data_size(REGISTRY["kc1"], "")
    assert data_size(REGISTRY["cifar10"], "").n_train == 40_000


def test_a_split_is_read_where_there_is_one(tmp_path):
    split = {"n_train": 6, "n_valid": 2, "n_test": 2, "n_inputs": 5, "n_classes": 2}
    (tmp_path / "splits" / "vehicle").mkdir(parents=True)
    (tmp_path / "splits" / "vehicle" / "split.json").write_text(json.dumps(split))
    assert data_size(REGISTRY["vehicle"], str(tmp_path)) == Data(6, 2, 2, 5, 2)


# ---- costs


def test_costs_grow_with_what_they_depend_on():
    size = network_entry("mlp_vis").size({"alpha": 8}, IMAGES)
    small = network_entry("mlp_vis").size({"alpha": 2}, IMAGES)
    one = resources.training_cost(IMAGES, size, LONG, ILO, "cpu")
    narrow = resources.training_cost(IMAGES, small, LONG, ILO, "cpu")
    assert one.seconds > narrow.seconds and one.mem_mb > narrow.mem_mb
    half = resources.training_cost(IMAGES, size, Epochs(50, 128), ILO, "cpu")
    assert one.seconds == pytest.approx(2 * half.seconds, rel=0.01)
    sup = resources.training_cost(IMAGES, size, LONG, SUP, "cpu")
    assert 1.5 < one.seconds / sup.seconds < 2.5
    assert resources.training_cost(IMAGES, size, LONG, ILO, "cuda").seconds < one.seconds / 20
    members = [resources.evaluate_cost(IMAGES, size, n, "cpu").seconds for n in (1, 4)]
    assert members[1] > members[0]


def test_a_small_network_costs_its_launches_on_a_gpu():
    data = Data(12_800, 100, 100, 20, 2)
    small, deep = (
        network_entry("mlp_tab").size({"width": 8, "depth": depth}, data) for depth in (4, 9)
    )
    start_s = resources.SPEEDS["cuda"].start_s
    costs = [
        resources.training_cost(data, size, LONG, objective, "cuda").seconds - start_s
        for size, objective in ((small, SUP), (deep, SUP), (deep, ILO))
    ]
    assert costs == sorted(costs) and costs[2] > 1.9 * costs[1]


def test_the_weekend_fits_a_card_of_8_gb():
    costs = Costs(benchmark(merged("weekend", device="cuda")))
    assert 2000 < costs.largest_on_gpu() <= 8000 / costs.config["jobs_per_gpu"]
    assert costs.devices["tabnet"] == "cpu"  # whose largest trials alone need more
    tabnet = LEARNERS["tabnet"].trial_cost({"trial_minutes": None}, IMAGES, "cuda")
    assert tabnet.gpu_mb > 8000


def test_the_next_attempt_asks_for_more_memory():
    cost = resources.Cost(seconds=600, mem_mb=2000)
    asked = [cost.asked_mem_mb(n) for n in (1, 2, 3, 4, 31)]
    assert asked == [3000, 6000, 9000, 12_000, 12_000]
    assert cost.asked_minutes() == 33


def test_a_training_fits_into_what_its_job_asks_for(tmp_path):
    """Measured in a process of its own: the toy's supernet, and the formula for its size."""
    toy = Toy(tmp_path / "toy")
    toy.initialise()
    code = (
        "import re; from pathlib import Path; from toy_run import Toy, set_up_torch\n"
        f"set_up_torch('cpu', 1, 1); Toy(Path({str(toy.folder)!r})).supernet()\n"
        # Not getrusage: there a process inherits the peak of the one that started it.
        "status = open('/proc/self/status').read()\n"
        "print('peak', int(re.search(r'VmHWM:\\s+(\\d+)', status)[1]) / 1000)"
    )
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'tests' / 'helpers'}"}
    output = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True
    )
    data = Data(100, 40, 40, 5, 3)
    size = network_entry("mlp_tab").size({"width": 16, "depth": 2}, data)
    cost = resources.training_cost(data, size, Epochs(8, 16), ILO, "cpu")
    assert float(output.stdout.split()[-1]) < cost.asked_mem_mb(1)


@pytest.mark.parametrize(
    ("dataset", "network", "device", "expected"),
    [
        ("vehicle", "mlp_tab", "cpu", "small"),
        ("adult", "mlp_tab", "cpu", "cuts"),
        ("cifar10", "mlp_vis", "cpu", None),  # a training by itself takes a day
        ("cifar10", "mlp_vis", "cuda", "cuts"),
    ],
)
def test_size_decides_how_jobs_are_grouped(dataset, network, device, expected):
    experiment = {"datasets": [dataset], "networks": [network], "methods": ["omp", "iunet"]}
    config = merged(device=device, experiments={"mine": experiment})
    config["tables"] = {name: {**entry, "datasets": []} for name, entry in config["tables"].items()}
    costs = Costs(benchmark(config))
    point = SimpleNamespace(dataset=dataset, network=network, seed=0, options="", cut="ratio8")
    assert costs.group("finetune", point) == expected


@pytest.mark.parametrize("profile", ["slurm", "kubernetes"])
def test_profiles_put_as_many_together_as_the_limit_allows_for(profile):
    text = (ROOT / "profiles" / profile / "config.yaml").read_text()
    said = dict(entry.split("=") for entry in yaml.safe_load(text)["group-components"])
    said.pop("tuned_cpu", None)  # with `cluster.gres`
    assert said == {group.name: str(group.together) for group in GROUPS}


# ---- GPUs of one machine

CLAIM = (
    "import time; from iunet.machine.gpu_slot import claim_gpu; import os\n"
    "print(claim_gpu(wait_s=0.5), os.environ.get('CUDA_VISIBLE_DEVICES'), flush=True)\n"
    "time.sleep(60)"
)


@pytest.fixture
def pretend_gpus(tmp_path, monkeypatch):
    """Two GPUs in the driver's list, and locks of this test's own."""
    for name in ("0000:01:00.0", "0000:02:00.0"):
        (tmp_path / "gpus" / name).mkdir(parents=True)
    monkeypatch.setenv("IUNET_GPU_LIST", str(tmp_path / "gpus"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "own"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    for name in ("CUDA_VISIBLE_DEVICES", "SLURM_JOB_ID"):
        monkeypatch.delenv(name, raising=False)


def start_job() -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", CLAIM], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def test_jobs_at_once_get_different_gpus(pretend_gpus):
    jobs = [start_job(), start_job()]
    try:
        given = [job.stdout.readline().split() for job in jobs]
        assert sorted(given) == [["0", "0"], ["1", "1"]]  # each sees its own and no other
        third = start_job()
        _, error = third.communicate(timeout=30)
        assert third.returncode != 0 and "All 2 GPUs (0, 1) have been busy" in error
        freed = given[0][0]
        jobs[0].kill()  # SIGKILL: the lock goes with the process
        jobs[0].wait()
        jobs.append(start_job())
        assert jobs[-1].stdout.readline().split()[0] == freed
    finally:
        for job in jobs:
            job.kill()
            job.communicate()


def test_a_scheduler_that_gives_one_gpu_is_left_alone(pretend_gpus, monkeypatch):
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    assert gpu_slot.claim_gpu() is None and "CUDA_VISIBLE_DEVICES" not in os.environ
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    assert gpu_slot.claim_gpu() is None and os.environ["CUDA_VISIBLE_DEVICES"] == "1"
    monkeypatch.delenv("SLURM_JOB_ID")
    assert gpu_slot.claim_gpu() is None


@pytest.mark.parametrize("wrong", ["a link", "open to others", "of somebody else"])
def test_a_folder_of_locks_that_others_may_write_to_is_refused(
    pretend_gpus, monkeypatch, tmp_path, wrong
):
    """They could put links there, and have the user's own files emptied."""
    folder = gpu_slot.lock_folder()
    assert folder.is_relative_to(tmp_path) and folder.stat().st_mode & 0o777 == 0o700
    if wrong == "a link":
        folder.rename(tmp_path / "elsewhere")
        folder.symlink_to(tmp_path / "elsewhere")
    elif wrong == "open to others":
        folder.chmod(0o777)
    else:
        monkeypatch.setattr(os, "getuid", lambda: 4711)
    with pytest.raises(UserError, match=r"iunet-gpus, where jobs lock GPUs, is a link, or"):
        gpu_slot.claim_gpu()


@pytest.mark.parametrize(
    ("visible", "per_gpu", "places"),
    [("5,3", 1, ["5", "3"]), ("0,1", 2, ["0", "1", "0", "1"])],  # one on each before any has two
)
def test_places_are_given_in_turn(pretend_gpus, monkeypatch, visible, per_gpu, places):
    """On the GPUs that the user allows."""
    monkeypatch.setattr(gpu_slot, "_held", [])

    def claim() -> str:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
        return gpu_slot.claim_gpu(per_gpu, wait_s=0)

    assert [claim() for _ in places] == places
    with pytest.raises(UserError, match=rf"{per_gpu} job\(s\) on each.* key 'jobs_per_gpu'"):
        claim()

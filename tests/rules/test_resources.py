"""What jobs ask for, how they are grouped, which GPU they get, and what the plan says."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from toy_run import Toy, result

from iunet.data.registry import Dataset, read_registry
from iunet.data.sizes import Data, data_size
from iunet.errors import UserError
from iunet.evaluation.sizes import sizes
from iunet.machine import gpu_slot, resources
from iunet.networks.catalog import network_entry
from iunet.networks.network import NetworkSpec, build_network

ROOT = Path(__file__).resolve().parents[2]
REGISTRY = read_registry([ROOT / "config" / "datasets.csv"])
IMAGES = Data(40_000, 10_000, 10_000, 3 * 32**2, 10, 32)
ILO = {"epochs": 100, "batch_size": 128, "objective": "ilo"}
TABULAR = {"first_cycle_epochs": 15, "cycle_factor": 2, "cycles": 3, "batch_size": 128}


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
        name, data.n_classes, n_inputs=0 if data.side else data.n_inputs, side=data.side, **options
    )
    network = build_network(spec)
    built, ours = sizes(network, spec, {}, 1), network_entry(name).size(options, data)
    assert ours.parameters == built["parameters"]
    assert ours.linear_flops + ours.conv_flops == built["flops_dense"]


def test_data_are_known_before_they_are_there(tmp_path):
    cifar = data_size(REGISTRY["cifar10"], str(tmp_path))
    assert (cifar.n_train, cifar.n_test, cifar.n_inputs) == (40_000, 10_000, 3072)
    assert data_size(REGISTRY["vehicle"], str(tmp_path)).n_train == 507
    embedded = data_size(REGISTRY["wine"], str(tmp_path))
    own = data_size(Dataset("mine", "tabular", "file", "mine.csv", "label"), str(tmp_path))
    assert embedded.n_rows < own.n_rows


def test_a_split_is_read_where_there_is_one(tmp_path):
    split = {"n_train": 6, "n_valid": 2, "n_test": 2, "n_inputs": 5, "n_classes": 2}
    (tmp_path / "splits" / "vehicle").mkdir(parents=True)
    (tmp_path / "splits" / "vehicle" / "split.json").write_text(json.dumps(split))
    assert data_size(REGISTRY["vehicle"], str(tmp_path)) == Data(6, 2, 2, 5, 2)


# ---- costs


def test_costs_grow_with_what_they_depend_on():
    size = network_entry("mlp_vis").size({"alpha": 8}, IMAGES)
    small = network_entry("mlp_vis").size({"alpha": 2}, IMAGES)
    one = resources.supernet_cost(IMAGES, size, ILO, "cpu")
    assert one.seconds > resources.supernet_cost(IMAGES, small, ILO, "cpu").seconds
    assert one.mem_mb > resources.supernet_cost(IMAGES, small, ILO, "cpu").mem_mb
    half = resources.supernet_cost(IMAGES, size, ILO | {"epochs": 50}, "cpu")
    assert one.seconds == pytest.approx(2 * half.seconds, rel=0.01)
    sup = resources.supernet_cost(IMAGES, size, ILO | {"objective": "sup"}, "cpu")
    assert 1.5 < one.seconds / sup.seconds < 2.5
    assert resources.supernet_cost(IMAGES, size, ILO, "cuda").seconds < one.seconds / 20
    cuts = [resources.evaluate_cost(IMAGES, size, n, 1, "cpu").seconds for n in (0, 4)]
    assert cuts[1] > 3 * cuts[0]


def test_the_next_attempt_asks_for_more():
    cost = resources.Cost(seconds=600, mem_mb=2000)
    assert [resources.asked_mem_mb(cost, n) for n in (1, 2, 3)] == [3000, 6000, 9000]
    assert [resources.asked_minutes(cost, n) for n in (1, 2)] == [33, 66]


def test_a_training_fits_into_what_its_job_asks_for(tmp_path):
    """Measured in a process of its own: the toy's supernet, and the formula for its size."""
    toy = Toy(tmp_path / "toy")
    toy.initialise()
    code = (
        f"import sys; sys.argv = ['', {str(toy.folder)!r}, 'supernet']; import re, runpy\n"
        f"runpy.run_path({str(ROOT / 'tests' / 'helpers' / 'toy_run.py')!r}, run_name='__main__')\n"
        # Not getrusage: there a process inherits the peak of the one that started it.
        "status = open('/proc/self/status').read()\n"
        "print('peak', int(re.search(r'VmHWM:\\s+(\\d+)', status)[1]) / 1000)"
    )
    began = time.monotonic()
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'tests' / 'helpers'}"}
    output = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True
    )
    seconds = time.monotonic() - began
    data = Data(100, 40, 40, 5, 3)
    size = network_entry("mlp_tab").size({"width": 16, "depth": 2}, data)
    settings = {"epochs": 200, "batch_size": 16, "objective": "ilo"}
    cost = resources.supernet_cost(data, size, settings, "cpu")
    assert float(output.stdout.split()[-1]) < resources.asked_mem_mb(cost, 1)
    assert seconds < 60 * resources.asked_minutes(cost, 1)


@pytest.mark.parametrize(
    ("dataset", "network", "options", "device", "expected"),
    [
        ("vehicle", "mlp_tab", {"width": 512, "depth": 9}, "cpu", "small"),
        ("adult", "mlp_tab", {"width": 512, "depth": 9}, "cpu", "medium"),
        ("cifar10", "mlp_vis", {"alpha": 8}, "cpu", "large"),
        ("cifar10", "mlp_vis", {"alpha": 8}, "cuda", "medium"),
    ],
)
def test_size_decides_how_jobs_are_grouped(tmp_path, dataset, network, options, device, expected):
    data = data_size(REGISTRY[dataset], str(tmp_path))
    size = network_entry(network).size(options, data)
    finetune = TABULAR if network == "mlp_tab" else {"epochs": 100, "batch_size": 128}
    costs = (
        resources.supernet_cost(data, size, ILO, device),
        resources.finetune_cost(data, size, finetune, device),
    )
    assert resources.size_class(*costs) == expected


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
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("IUNET_GPU_LIST", str(tmp_path / "gpus"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
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
        assert third.returncode != 0 and "All 2 GPUs (0, 1) have been in use" in error
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


def test_of_the_gpus_that_the_user_allows(pretend_gpus, monkeypatch, tmp_path):
    monkeypatch.setattr(gpu_slot, "lock_folder", lambda: tmp_path / "locks")
    monkeypatch.setattr(gpu_slot, "_held", [])
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "5,3")
    assert gpu_slot.claim_gpu() == "5"
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "5,3")
    assert gpu_slot.claim_gpu() == "3"
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "5,3")
    with pytest.raises(UserError, match="--resources gpu=2 or less"):
        gpu_slot.claim_gpu(wait_s=0)


def test_no_more_jobs_train_at_once_than_there_are_gpus(workdir, pretend_gpus):
    """The counter is set by the workflow; what is asked for on the command line wins."""
    target = "results/test/data/wine/data.json"
    options = ("--configfile", "config/test.yaml")
    assert 'Resource("gpu", 2)' in workdir.run(target, *options)
    assert 'Resource("gpu", 1)' in workdir.run(
        target, "--forcerun", "download_table", "--resources", "gpu=1", *options
    )


# ---- a device that is not there


def test_cuda_without_a_gpu_is_refused_before_the_start(workdir):
    (workdir.path / "cuda.yaml").write_text("device: cuda")
    options = ("--configfile", "config/test.yaml", "cuda.yaml")
    target = "results/test/runs/wine/mlp_tab/kappa1-sup/seed0/supernet.json"
    fragment = "The config key 'device' is 'cuda', but this machine has no NVIDIA GPU"
    for more in (("-n",), ()):
        assert fragment in workdir.fail(target, *more, *options)
    assert not (workdir.path / "results" / "test" / "data").exists()
    # Downloading, and planning for a cluster, is what a login node without a GPU is for.
    workdir.run("download_all", *options)
    profile = ("--profile", str(ROOT / "profiles" / "slurm"))
    assert workdir.snakemake(target, "-n", *profile, *options).returncode == 0


# ---- SIGTERM


def test_sigterm_saves_the_epoch_and_the_next_start_continues(tmp_path):
    toy = Toy(tmp_path / "toy")
    toy.initialise()
    folder = toy.folder / "supernet"

    def start() -> subprocess.Popen:
        command = [
            sys.executable,
            ROOT / "tests" / "helpers" / "toy_run.py",
            toy.folder,
            "supernet",
        ]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    whole = start()
    assert whole.communicate() and whole.returncode == 0
    expected = result(folder)
    for path in folder.iterdir():
        path.unlink()
    stopped = start()
    while not stopped.stdout.readline().startswith("epoch"):
        pass
    stopped.send_signal(signal.SIGTERM)
    _, error = stopped.communicate()
    assert stopped.returncode != 0 and "was asked to stop (SIGTERM)" in error
    assert [path.name for path in folder.iterdir()] == ["supernet.checkpoint"]
    again = start()
    assert again.communicate() and again.returncode == 0
    assert result(folder) == expected


# ---- offline nodes


def test_only_downloads_know_of_the_network():
    """They run where Snakemake does; what other jobs import has no way to a server."""
    from iunet.runs.versions import _closure, _imports_of_text

    for path in sorted((ROOT / "workflow" / "scripts").glob("[a-z]*.py")):
        modules = _imports_of_text(path.read_text(encoding="utf-8"))
        used = set().union(*map(_closure, modules))
        online = ("iunet.data.download", "iunet.data.sources.")
        assert any(name.startswith(online) for name in used) == path.name.startswith("download"), (
            path.name
        )
    rules = (ROOT / "workflow" / "rules" / "download.smk").read_text().split("\nrule ")[1:]
    assert all("localrule: True" in rule for rule in rules)


def test_jobs_run_without_a_network(workdir):
    """After download_all, in a network namespace that has nothing at all."""
    options = ("--configfile", "config/test.yaml")
    if subprocess.run(["unshare", "-rn", "true"], capture_output=True).returncode != 0:
        pytest.skip("this machine allows no network namespaces (unshare -rn)")
    workdir.run("download_all", *options)
    target = "results/test/runs/wine/mlp_tab/kappa1-sup/seed0/ratio8/finetune.json"
    snakemake = Path(sys.executable).parent / "snakemake"
    command = ["unshare", "-rn", snakemake, "--snakefile", ROOT / "Snakefile", "--cores", "1"]
    result = subprocess.run(
        [*command, target, *options], cwd=workdir.path, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr[-2000:]


# ---- the plan


def test_the_plan_adds_up(workdir):
    command = [sys.executable, "-m", "iunet.machine.cost", "--configfile", "config/test.yaml"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}

    def rows(*more: str) -> dict[str, list[str]]:
        output = subprocess.run(
            [*command, *more], cwd=workdir.path, capture_output=True, text=True, env=environment
        )
        assert output.returncode == 0, output.stderr
        lines = (line.split() for line in output.stdout.splitlines())
        return {line[0]: line[1:] for line in lines if line[-1:] == ["GB"]}

    plan = rows()
    jobs = {name: int(row[0]) for name, row in plan.items()}
    rules = [name for name in jobs if name in ("supernet", "finetune", "evaluate", "split_table")]
    assert len(rules) == 4 and jobs["total"] > sum(jobs[name] for name in rules)
    assert jobs["tables.table7"] <= jobs["total"]
    assert int(plan["total"][1]) < jobs["total"] / 2  # grouped
    assert int(plan["choose"][1]) == 0  # local
    workdir.run("results/test/data/wine/data.json", "--configfile", "config/test.yaml")
    assert int(rows("--remaining")["total"][0]) == jobs["total"] - 1

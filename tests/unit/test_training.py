"""The loop and its stages: masks, schedules, determinism, and what goes wrong."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from toy_run import FINETUNE, NETWORK, Toy, result

from iunet.artifacts import read_arrays
from iunet.errors import UserError
from iunet.method.masks import read_masks
from iunet.networks.network import NetworkSpec, build_network
from iunet.scoring.metrics import classification_metrics
from iunet.training.finetune import FinetuneSettings
from iunet.training.loop import batches, n_batches, stream
from iunet.training.members import read_members, split_members
from iunet.training.schedule import schedule_of
from iunet.training.support.checkpoint import Checkpoint

HELPERS = Path(__file__).parents[1] / "helpers"


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture
def toy(tmp_path):
    toy = Toy(tmp_path / "toy")
    toy.initialise()
    return toy


# ---- batches


@pytest.mark.parametrize(
    ("n_rows", "sizes"),
    [(32, [16, 16]), (33, [16, 16]), (34, [16, 16, 2]), (10, [10]), (2, [2]), (1, [])],
)
def test_a_last_batch_of_one_row_is_left_out(n_rows, sizes):
    drawn = list(batches(n_rows, 16, stream(0, "order", torch.device("cpu"))))
    assert [len(rows) for rows in drawn] == sizes
    assert n_batches(n_rows, 16) == len(sizes)
    rows = torch.cat(drawn).tolist() if drawn else []
    assert len(set(rows)) == len(rows)


def test_streams_are_independent_and_repeat():
    def draw(seed, name):
        return torch.rand(4, generator=stream(seed, name, torch.device("cpu"))).tolist()

    assert draw(0, "a") == draw(0, "a")
    assert len({tuple(draw(seed, name)) for seed in (0, 1) for name in "ab"}) == 4


# ---- the supernet


def test_supernet_learns_and_reports(toy):
    folder = toy.supernet()
    report = json.loads((folder / "report").read_text())
    history = report["history"]
    assert [entry["epoch"] for entry in history] == list(range(1, 9))
    assert history[-1]["loss"] < history[0]["loss"]
    assert history[-1]["loss"] == pytest.approx(history[-1]["sup"] + history[-1]["nce"], abs=1e-5)
    assert history[-1]["valid_accuracy"] > 80
    assert report["metrics"]["valid_accuracy"] == history[-1]["valid_accuracy"]
    assert report["environment"]["versions"]["torch"] == torch.__version__
    assert report["settings"]["kappa"] == 0.25
    assert report["first_layer"] in read_arrays(folder / "weights")
    assert not list(folder.glob("*checkpoint*"))
    # The histograms count every weight of every epoch.
    arrays = read_arrays(folder / "histograms")
    assert arrays["counts"].shape == (9, 180) and arrays["edges"].shape == (181,)
    assert (arrays["counts"].sum(axis=1) == 5 * 16 + 16 * 16).all()
    initial = read_arrays(toy.path("initial/weights"))
    scaled = 0.25 * np.concatenate([initial[f"encoder.{i}.weight"].ravel() for i in (0, 3)])
    expected, _ = np.histogram(np.abs(scaled), arrays["edges"])
    assert np.abs(expected - arrays["counts"][0]).sum() <= 2  # a value on an edge of a bin


def test_epoch_lines_can_be_followed(toy, caplog):
    with caplog.at_level(logging.INFO):
        toy.supernet(epochs=2)
    line = next(m for m in caplog.messages if m.startswith("epoch 2/2"))
    for part in ("loss ", "sup ", "nce ", "valid ", "samples/s", "left"):
        assert part in line


@pytest.mark.parametrize("objective", ["sup", "scl", "ilo"])
def test_same_seed_same_bytes_other_seed_others(toy, objective):
    one, two = (toy.supernet(f"run{i}", objective=objective, epochs=2) for i in range(2))
    assert result(one) == result(two)
    three = toy.supernet("run3", objective=objective, epochs=2, seed=1)
    assert (one / "weights").read_bytes() != (three / "weights").read_bytes()


@pytest.mark.parametrize(
    ("shape", "changes"),
    [
        ({"n_classes": 1}, {}),  # every batch has a single class
        ({"n_train": 17}, {}),  # a last batch of one row
        ({"n_train": 5}, {"batch_size": 128}),  # fewer rows than a batch
        ({"n_train": 64, "n_classes": 1000}, {}),  # most classes without a row
    ],
    ids=["one class", "batch of one", "few rows", "1000 classes"],
)
def test_odd_data_train(tmp_path, shape, changes):
    toy = Toy(tmp_path / "toy", **shape)
    toy.initialise()
    folder = toy.supernet(epochs=2, **changes)
    for name, array in read_arrays(folder / "weights").items():
        assert np.isfinite(array).all(), name
    toy.prune(8)
    toy.finetune(first_cycle_epochs=1, cycles=1)


def test_one_train_row_is_refused(tmp_path):
    toy = Toy(tmp_path / "toy", n_train=1)
    toy.initialise()
    with pytest.raises(UserError, match="Run toy/supernet: 1 train rows are too few"):
        toy.supernet()


def test_a_diverging_run_is_named_and_writes_nothing(toy):
    with pytest.raises(UserError, match="Run toy/supernet diverged: in epoch"):
        toy.supernet(lr=1e30, objective="sup")
    assert not (toy.folder / "supernet" / "weights").exists()


# ---- fine-tuning


@pytest.mark.parametrize(
    "recipe",
    [
        {"cycles": 2, "first_cycle_epochs": 1},
        {"optimiser": "sgd", "cycles": 0, "epochs": 3, "momentum": 0.9, "nesterov": True},
        {"optimiser": "sgd", "cycles": 0, "epochs": 3, "momentum": 0.9, "weight_decay": 0.1},
    ],
    ids=["adamw", "nesterov", "weight decay"],
)
def test_pruned_weights_are_zero_after_every_step(toy, monkeypatch, recipe):
    toy.supernet(epochs=1)
    toy.prune(8)
    masks = read_masks(toy.path("mask/mask"), toy.path("mask/report"))
    steps = []

    def checked(weights, on_device):
        original(weights, on_device)
        for weight, mask in zip(weights, masks.values(), strict=True):
            assert (weight.numpy()[~mask] == 0).all()
        steps.append(1)

    original = torch._foreach_mul_
    monkeypatch.setattr(torch, "_foreach_mul_", checked)
    folder = toy.finetune(**recipe)
    report = json.loads((folder / "report").read_text())
    assert len(steps) == 7 * len(report["history"])
    for member in read_members(folder / "weights", masks, torch.device("cpu")):
        for name, mask in masks.items():
            assert (member[name].numpy()[~mask] == 0).all()
            assert (member[name].numpy()[mask] != 0).any()


def test_finetuning_starts_from_the_lottery_ticket(toy):
    """With a learning rate of (almost) zero, the unscaled initial weights come back."""
    toy.supernet(epochs=1)
    toy.prune(4)
    folder = toy.finetune(optimiser="sgd", cycles=0, epochs=1, lr=1e-30, weight_decay=0.0)
    masks = read_masks(toy.path("mask/mask"), toy.path("mask/report"))
    (member,) = read_members(folder / "weights", masks, torch.device("cpu"))
    initial = read_arrays(toy.path("initial/weights"))
    for name in initial:
        if "running" in name or "num_batches" in name:
            continue
        expected = initial[name] * masks[name] if name in masks else initial[name]
        assert np.abs(member[name].numpy() - expected).max() < 1e-25, name


def test_a_layer_that_lost_all_weights_still_trains(toy):
    toy.supernet(epochs=1)
    toy.prune(336)  # one weight of 336 is left
    report = json.loads((toy.folder / "mask" / "report").read_text())
    assert report["kept_weights"] == 1 and report["disconnected"] is True
    history = json.loads((toy.finetune(cycles=1) / "report").read_text())["history"]
    assert 0 <= history[-1]["valid_accuracy"] <= 100


def test_cosine_with_restarts_is_torchs():
    settings = FinetuneSettings(**FINETUNE | {"first_cycle_epochs": 15})
    schedule = schedule_of(vars(settings))
    assert schedule.cycle_ends == (15, 45, 105) and schedule.epochs == 105
    optimiser = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=settings.lr)
    reference = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimiser, 15, T_mult=2)
    for step in range(4 * 105):
        reference.step(step / 4)
        ours = schedule.lr_at(step / 4)
        assert ours == pytest.approx(optimiser.param_groups[0]["lr"], abs=1e-12)


def test_snapshots_are_the_networks_at_the_ends_of_cycles(toy):
    """The first member is what a single cycle gives."""
    toy.supernet(epochs=1)
    toy.prune(4)
    short = {"first_cycle_epochs": 1}
    three = split_members(read_arrays(toy.finetune("three", **short) / "weights"))
    one = split_members(read_arrays(toy.finetune("one", cycles=1, **short) / "weights"))
    assert len(three) == 3 and len(one) == 1
    assert all(np.array_equal(three[0][name], one[0][name]) for name in one[0])
    last = toy.finetune("last", snapshot_ensemble=False, **short)
    (only,) = split_members(read_arrays(last / "weights"))
    assert all(np.array_equal(three[2][name], only[name]) for name in only)


def test_the_predictions_are_those_of_the_ensemble(tmp_path):
    """Whoever chooses reads them; the evaluation scores the same labels."""
    toy = Toy(tmp_path / "toy", n_classes=10)  # hard enough for members to disagree
    toy.initialise()
    toy.supernet(epochs=1)
    toy.prune(4)
    folder = toy.finetune(first_cycle_epochs=1)
    assert json.loads((folder / "report").read_text())["members"] == 3
    predicted = read_arrays(folder / "predictions")["predicted"]
    labels = read_arrays(toy.path("valid.safetensors"))["labels"]
    ours = {f"valid_{k}": v for k, v in classification_metrics(labels, predicted).items()}
    assert len(ours) == 3 and ours.items() <= toy.evaluate()["metrics"].items()
    masks = read_masks(toy.path("mask/mask"), toy.path("mask/report"))
    *_, last = read_members(folder / "weights", masks, torch.device("cpu"))
    network = build_network(NetworkSpec("mlp_tab", 10, n_inputs=5, options=NETWORK))
    network.load_state_dict(last)
    values = torch.from_numpy(read_arrays(toy.path("valid.safetensors"))["numeric"])
    assert (network.eval()(values).argmax(dim=1).numpy() != predicted).any()


# ---- checkpoints


def interrupt_after(monkeypatch, epochs: int):
    """Make training stop like a killed job, after that many epochs in this process."""
    from iunet.training.support.progress import Progress

    original, done = Progress.epoch, []

    def epoch(*arguments):
        original(*arguments)
        done.append(1)
        if len(done) > epochs:
            raise KeyboardInterrupt

    monkeypatch.setattr(Progress, "epoch", epoch)


@pytest.mark.parametrize("stage", ["supernet", "finetune"])
def test_resumed_run_ends_with_the_same_bytes(toy, stage, monkeypatch):
    """And its time counts what was before: the table of costs compares it with searches."""
    if stage == "finetune":
        toy.supernet(epochs=1)
        toy.prune(4)
    whole = result(getattr(toy, stage)("whole"))
    for epochs in (1, 2, 3):
        with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):
            interrupt_after(patch, epochs)
            getattr(toy, stage)("resumed")
    load = Checkpoint.load

    def after_an_hour(self, device):
        tensors, facts = load(self, device)
        return tensors, facts | {"seconds": 3600.0}

    monkeypatch.setattr(Checkpoint, "load", after_an_hour)
    folder = getattr(toy, stage)("resumed")
    assert result(folder) == whole
    times = json.loads((folder / "report").read_text())["times"]
    assert len(times["resumed_at"]) == 3
    assert 3600 < times["training_s"] < times["total_s"]


def test_a_bad_checkpoint_is_refused_by_name(toy, caplog):
    whole = result(toy.supernet("whole", epochs=2))
    with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):
        interrupt_after(patch, 1)
        toy.supernet("again", epochs=2, lr=0.01)
    path = toy.folder / "again" / "supernet.checkpoint"
    foreign = path.read_bytes()
    damaged = dict.fromkeys((foreign[:-100], b"x" * 1000, b""), "is damaged")
    for content, reason in {foreign: "a different run (settings differ)", **damaged}.items():
        path.write_bytes(content)
        caplog.clear()
        folder = toy.supernet("again", epochs=2)
        assert any(str(path) in m and reason in m and "starting over" in m for m in caplog.messages)
        assert result(folder) == whole


# ---- the machine


def test_leaving_out_the_compiler_changes_no_bit(tmp_path):
    """A run without it, and one after the stand-in gave way to who asks for more: a profiler."""
    code = f"""
import inspect, sys; sys.path.insert(0, {str(HELPERS)!r})
from pathlib import Path; from toy_run import Toy; import torch
from iunet.machine.compiler import NAME, StandIn, leave_out_compiler
def run(name):
    toy = Toy(Path({str(tmp_path)!r}) / name)
    toy.initialise(); toy.supernet(epochs=2); toy.prune(4)
    return (toy.finetune(cycles=1) / "weights").read_bytes()
torch.set_num_threads(1)
leave_out_compiler()
without = run("without")
inspect.getmodule(torch.nn)
assert isinstance(sys.modules[NAME], StandIn) and NAME + ".symbolic_convert" not in sys.modules
with torch.profiler.profile() as p: torch.ones(2) @ torch.ones(2)
assert any("dot" in event.key for event in p.key_averages())
import torch._dynamo.utils
assert not isinstance(sys.modules[NAME], StandIn)
assert run("with") == without
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr

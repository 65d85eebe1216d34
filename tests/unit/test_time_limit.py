"""Jobs that come near their time limit: what is saved, what is put back into the queue, what not.

`squeue` and `scontrol` are stand-ins here; tests/end_to_end/test_cluster.py has the real ones.
"""

from __future__ import annotations

import signal
import time
from datetime import datetime
from pathlib import Path

import optuna
import pytest
import torch

from iunet.artifacts import read_json
from iunet.baselines.learner import Attempt
from iunet.baselines.study import KILLED_TWICE, Budget, Worker, open_study
from iunet.errors import UserError
from iunet.machine import time_limit
from iunet.machine.time_limit import RESTARTS, SENT, TimeLimit, TimeUp, alarm, mark_as_sent
from iunet.training.loop import Training, train
from iunet.training.support.checkpoint import Checkpoint


class PutBack(BaseException):
    """In place of a job that Slurm has put back and ends."""


@pytest.fixture
def tools(tmp_path, monkeypatch):
    """A Slurm job of 100 s that began now; returns what `scontrol` was asked for."""
    asked = tmp_path / "asked"
    moments = [datetime.fromtimestamp(time.time() + s).isoformat()[:19] for s in (0, 100)]
    for name, text in {
        "squeue": f"echo '{' '.join(moments)}'",
        "scontrol": f'echo "$@" >> {asked}',
    }.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setenv("SLURM_JOB_ID", "17")
    monkeypatch.setenv(SENT, "1")
    monkeypatch.setenv(RESTARTS, "0")

    def ended():
        raise PutBack

    monkeypatch.setattr(time_limit, "_wait_for_the_end", ended)
    return asked


LONG = 1e6  # seconds: no alarm rings by itself in these tests


def set_limit(monkeypatch, whole: float) -> None:
    """The limit that every job now sees: LONG is left of so many seconds."""
    ends = time.time() + LONG
    limit = TimeLimit("17", ends - whole, ends)
    for place in ("iunet.training.support.signals", "iunet.baselines.study"):
        monkeypatch.setattr(f"{place}.time_limit", lambda: limit)


def ring(epoch=None) -> None:
    """Time is up."""
    signal.raise_signal(signal.SIGALRM)


# ---- the limit


def test_the_limit_is_asked_of_slurm(tools, monkeypatch):
    limit = time_limit.time_limit()
    assert limit.job == "17" and limit.minutes == pytest.approx(100 / 60)
    assert limit.margin_s == pytest.approx(10)  # a tenth: the limit is short
    day = TimeLimit("17", time.time() - 80_000, time.time() + 6_400)
    assert day.margin_s == 120
    assert not day.is_near(next_s=60) and day.is_near(next_s=6_300)
    late = TimeLimit("17", time.time() - 86_170, time.time() + 230)  # 110 s before the alarm
    assert late.is_near(next_s=0.01)
    monkeypatch.delenv(SENT)  # a job of the user's own, in which Snakemake runs: left alone
    assert time_limit.time_limit() is None


def test_without_an_answer_there_is_no_limit(tools, monkeypatch):
    tools.with_name("squeue").write_text("#!/bin/sh\nexit 1\n")
    assert time_limit.time_limit() is None
    monkeypatch.delenv("SLURM_JOB_ID")
    assert time_limit.time_limit() is None


def test_an_alarm_within_the_work():
    now = time.time()
    with pytest.raises(TimeUp), alarm(TimeLimit("17", now - 100, now)):
        while True:
            pass
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    with alarm(None):
        pass


@pytest.mark.parametrize("refused", ["exit 1", "exec sleep 9"], ids=["says no", "does not answer"])
def test_where_slurm_requeues_no_job(tools, monkeypatch, refused):
    tools.with_name("scontrol").write_text(f"#!/bin/sh\n{refused}\n")
    monkeypatch.setattr(time_limit, "ANSWER_S", 0.5)
    wanted = "Half is saved, because the job's limit of 2 minutes is near. Slurm did not put"
    with pytest.raises(UserError, match=wanted):
        time_limit.requeue(TimeLimit("17", 0, 100), "Half is saved")


# ---- a training


def make_training(epochs: int, each=lambda epoch: None) -> Training:
    generator = torch.Generator().manual_seed(0)
    rows = torch.randn(8, 3, generator=generator)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = torch.nn.Linear(3, 1)

    def loss(indices):
        return network(rows[indices]).square().mean(), {}

    def keep(epoch):
        each(epoch)
        return {}

    optimiser = torch.optim.SGD(network.parameters(), lr=0.1)
    order = {"order": torch.Generator().manual_seed(1)}
    return Training("toy", network, optimiser, epochs, 4, 8, loss, None, order, keep=keep)


def weights(training: Training) -> torch.Tensor:
    return training.network.weight.detach()


def test_a_training_is_saved_put_back_and_goes_on(tools, monkeypatch, tmp_path):
    whole = make_training(6)
    train(whole)
    checkpoint = Checkpoint(tmp_path / "toy.checkpoint", {}, every_s=1e9)

    def cut_at(last):
        """The time becomes short in that epoch."""
        left = {"s": LONG}
        monkeypatch.setattr(TimeLimit, "left", lambda self: left["s"])
        return lambda epoch: left.update(s=LONG if epoch < last else -1.0)

    set_limit(monkeypatch, 2 * LONG)
    for epoch in (1, 3):
        with pytest.raises(PutBack):
            train(make_training(6, cut_at(epoch)), checkpoint)
        assert checkpoint.path.exists()
    last = make_training(6, cut_at(6))
    trained = train(last, checkpoint)
    assert trained.resumed_at == [3, 5] and len(trained.history) == 6
    assert torch.equal(weights(last), weights(whole))
    assert tools.read_text() == "requeue 17\n" * 2


def test_an_epoch_that_is_cut_off_is_repeated_from_the_last_checkpoint(
    tools, monkeypatch, tmp_path
):
    checkpoint = Checkpoint(tmp_path / "toy.checkpoint", {}, every_s=0)
    set_limit(monkeypatch, LONG)
    with pytest.raises(PutBack):
        train(make_training(6, lambda epoch: ring() if epoch == 2 else None), checkpoint)
    assert train(make_training(6), checkpoint).resumed_at == [3]


def test_an_epoch_longer_than_a_job_is_an_error(tools, monkeypatch, tmp_path):
    set_limit(monkeypatch, LONG)
    with pytest.raises(UserError, match="One epoch takes longer than a job may run"):
        train(make_training(6, ring), Checkpoint(tmp_path / "toy.checkpoint", {}))
    assert not tools.exists()
    set_limit(monkeypatch, 10 * LONG)  # most of the job's time went into others of its group
    with pytest.raises(PutBack):
        train(make_training(6, ring), Checkpoint(tmp_path / "toy.checkpoint", {}))
    assert tools.read_text() == "requeue 17\n"


def test_a_group_that_leaves_no_epoch_after_a_restart_is_an_error(tools, monkeypatch, tmp_path):
    """Its jobs are made again after every restart: without a new attempt it would never end."""
    set_limit(monkeypatch, 10 * LONG)
    monkeypatch.setenv("SLURM_RESTART_COUNT", "1")
    mark_as_sent()
    monkeypatch.delenv("SLURM_RESTART_COUNT")  # as Snakemake's plugin does
    checkpoint = Checkpoint(tmp_path / "toy.checkpoint", {}, every_s=0)
    with pytest.raises(UserError, match="left less than an epoch for this training"):
        train(make_training(6, ring), checkpoint)
    assert not tools.exists()
    with pytest.raises(PutBack):  # with an epoch it comes nearer to its end
        train(make_training(6, lambda epoch: ring() if epoch == 1 else None), checkpoint)


# ---- a study


def suggest(trial: optuna.Trial) -> dict[str, float]:
    return {"x": trial.suggest_float("x", 0, 1)}


def study_in(folder: Path, cut: set[int], trials: int = 6):
    """Run a worker; in the trials of these numbers, counted within this call, time is up."""
    study = open_study(folder / "study.journal", "toy")
    numbers = iter(range(100))

    def try_out(parameters):
        if next(numbers) in cut:
            ring()
        return Attempt(parameters["x"], 0.0)

    Worker(study, suggest, try_out, Budget(trials), 0, folder / "worker0.begun").run()
    return [(trial.params, trial.value) for trial in study.trials]


def test_a_study_that_is_cut_goes_on_as_if_it_were_not(tools, monkeypatch, tmp_path):
    set_limit(monkeypatch, 10 * LONG)
    whole = study_in(tmp_path / "whole", set())
    for first in (1, 0, 0, 0):  # also more often than a trial may be killed
        with pytest.raises(PutBack):
            study_in(tmp_path / "cut", {first})
    assert study_in(tmp_path / "cut", set()) == whole
    assert tools.read_text() == "requeue 17\n" * 4


def test_a_trial_longer_than_a_job_fails_after_two_whole_ones(tools, monkeypatch, tmp_path):
    set_limit(monkeypatch, LONG)
    for _ in range(2):
        with pytest.raises(PutBack):
            study_in(tmp_path / "long", {0})
    assert read_json(tmp_path / "long" / "worker0.begun")["starts"] == 2
    study_in(tmp_path / "long", set(), trials=2)
    trials = open_study(tmp_path / "long" / "study.journal", "toy").trials
    assert trials[0].user_attrs["reason"] == KILLED_TWICE and trials[1].value is not None

"""Studies: their budget, their failures, and that a killed one loses nothing."""

from __future__ import annotations

import csv
import errno
import json
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

from iunet.baselines import study
from iunet.baselines.learner import Attempt
from iunet.baselines.study import KILLED_TWICE, Budget, Worker, open_study, summarise_study
from iunet.errors import UserError
from iunet.machine.device import device_failure, explain_failure
from iunet.tables.notes import failure_notes

FACTS = {"dataset": "wine", "method": "xgb"}


def suggest(trial) -> dict:
    flat = trial.suggest_categorical("flat", [True, False])
    depth = {} if flat else {"depth": trial.suggest_int("depth", 1, 9)}
    return {"x": trial.suggest_float("x", 0, 1), **depth}


def try_out(parameters: dict) -> Attempt:
    return Attempt(100 * (1 - abs(parameters["x"] - 0.3)), 0.0, {"rounds": 7}, ["time limit"])


def search(folder: Path, trials: int, attempt=try_out, minutes=None, worker=0, seed=0) -> list:
    study = open_study(folder / "study.journal", "s")
    marker = folder / f"worker{worker}.begun"
    Worker(study, suggest, attempt, Budget(trials, minutes), seed, marker, worker).run()
    return study.get_trials()


def points(trials: list) -> list:
    return [(trial.state.name, trial.value, trial.params) for trial in trials]


def test_a_budget_that_is_raised_continues_the_study(tmp_path):
    whole = search(tmp_path / "whole", 20)
    first = search(tmp_path / "parts", 8)
    assert points(first) == points(whole)[:8]
    assert points(search(tmp_path / "parts", 20)) == points(whole)
    assert len(search(tmp_path / "parts", 20)) == 20  # spent: nothing is added
    assert points(search(tmp_path / "other", 20, seed=1)) != points(whole)


def test_the_search_is_better_than_chance(tmp_path):
    """After the ten random trials of TPE, most trials are near the best x."""
    later = search(tmp_path, 40)[20:]
    assert sum(abs(trial.params["x"] - 0.3) < 0.15 for trial in later) > 10


def test_a_budget_in_minutes(tmp_path):
    def slow(parameters):
        time.sleep(0.05)
        return try_out(parameters)

    trials = search(tmp_path, 1000, slow, minutes=0.3 / 60)
    assert 2 <= len(trials) <= 6


def test_workers_share_a_study(tmp_path):
    search(tmp_path, 6, worker=0)
    trials = search(tmp_path, 12, worker=1)
    assert Counter(trial.user_attrs["worker"] for trial in trials) == {0: 6, 1: 6}
    assert len({str(trial.params) for trial in trials}) == 12


def test_failures_are_recorded_and_the_study_goes_on(tmp_path):
    def sometimes(parameters):
        if parameters["x"] < 0.3:
            raise MemoryError
        if parameters["x"] < 0.5:
            raise ValueError("Every weight\nwas pruned.")
        if parameters["x"] < 0.7:
            return Attempt(float("nan"), 0.0)
        return try_out(parameters)

    trials = search(tmp_path, 30, sometimes)
    output = {"trials": str(tmp_path / "trials.csv"), "study": str(tmp_path / "study.json")}
    summarise_study(FACTS, tmp_path / "study.journal", "s", {}, {"trials": 30}, output)
    content = json.loads((tmp_path / "study.json").read_text())
    reasons = {"MemoryError", "ValueError: Every weight was pruned.", "The score is nan."}
    assert set(content["failures"]) == reasons
    good = [trial for trial in trials if trial.state.name == "COMPLETE"]
    assert content["trials"] == 30 and content["counts"]["failed"] == 30 - len(good)
    best = max(good, key=lambda trial: trial.value)
    assert content["best"]["parameters"] == best.params
    assert content["best"]["found"] == {"rounds": 7} and content["flagged_trials"] == len(good)
    with (tmp_path / "trials.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [int(row["number"]) for row in rows] == list(range(30))
    assert {row["reason"] for row in rows if row["state"] == "failed"} == reasons
    assert float(rows[best.number]["score"]) == best.value
    assert (rows[best.number]["depth"] == "") == best.params["flat"]


@pytest.mark.parametrize(
    "said", ["CUDA error: no kernel image is available", "CUDA out of memory. Tried to allocate"]
)
def test_a_gpu_that_fails_ends_the_job_and_books_no_trial(tmp_path, said):
    """What the study finds would else depend on the card, and on who shares it."""
    calls = []

    def failing(parameters):
        calls.append(parameters)
        if len(calls) > 2:
            raise RuntimeError(said)
        return try_out(parameters)

    for _ in range(3):  # no kill, however often
        with pytest.raises(RuntimeError, match=said.partition(".")[0]):
            search(tmp_path, 5, failing)
    assert len(open_study(tmp_path / "study.journal", "s").trials) == 2
    tried = 2 if "memory" in said else 1  # once more, alone
    assert len(calls) == 2 + 3 * tried and all(call == calls[2] for call in calls[2:])
    assert points(search(tmp_path, 5)) == points(search(tmp_path / "whole", 5))


def test_what_counts_as_a_failure_of_the_gpu():
    assert device_failure(RuntimeError("CUDA error: an illegal memory access")) == "device"
    assert device_failure(RuntimeError("cuDNN error: CUDNN_STATUS_MAPPING_ERROR")) == "device"
    assert device_failure(UserError("The config key says CUDA error")) == ""
    assert device_failure(RuntimeError("tensors on cuda:0 and cpu")) == ""
    assert device_failure(MemoryError()) == ""


def test_a_gpu_that_fails_is_explained():
    error = RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")
    said = explain_failure(error, "wine/mlp_tab/seed0", 2_500, 4)
    assert said.startswith("wine/mlp_tab/seed0 ran out of GPU memory (CUDA out of memory.")
    assert "2,500 MB" in said and "lower 'jobs_per_gpu' (now 4)" in said
    sticky = explain_failure(RuntimeError("CUDA error: unspecified"), "wine/xgb", 0, 1)
    assert "its GPU failed" in sticky and "CUDA error: unspecified" in sticky


def test_tables_name_studies_that_lost_more_than_a_tenth_of_their_trials():
    trials = {"trials_complete": [90, 89, 89, None], "trials_failed": [10, 11, 11, None]}
    names = {"dataset": ["a", "b", "b", "c"], "method": ["xgb", "tabnet", "tabnet", "dense"]}
    note = "More than a tenth of the trials failed: tabnet on b (11 of 100)."
    assert failure_notes(pd.DataFrame({**names, **trials, "study": "tuning"})) == [note]


def test_of_equal_trials_the_first_is_best(tmp_path):
    search(tmp_path, 3, lambda parameters: Attempt(50.0, 0.0))
    output = {name: str(tmp_path / name) for name in ("study", "trials")}
    summarise_study(FACTS, tmp_path / "study.journal", "s", {}, {"trials": 3}, output)
    assert json.loads((tmp_path / "study").read_text())["best"]["number"] == 0


def test_every_trial_draws_anew(tmp_path):
    """Each has a seed of its own, and so have two workers."""
    drawn = [trial.params["x"] for trial in search(tmp_path / "one", 3)]
    drawn += [trial.params["x"] for trial in search(tmp_path / "two", 3, worker=1)]
    assert len(set(drawn)) == 6


def test_a_smaller_budget_counts_the_first_trials_only(tmp_path):
    trials = search(tmp_path, 12)
    output = {"trials": str(tmp_path / "trials.csv"), "study": str(tmp_path / "study.json")}
    summarise_study(FACTS, tmp_path / "study.journal", "s", {}, {"trials": 5}, output)
    content = json.loads((tmp_path / "study.json").read_text())
    best = max(trials[:5], key=lambda trial: trial.value)
    assert (content["trials"], content["best"]["number"]) == (5, best.number)


def test_a_study_without_a_good_trial_is_an_error(tmp_path):
    def never(parameters):
        raise UserError("out of luck")

    search(tmp_path, 3, never)
    with pytest.raises(UserError, match=r"xgb on 'wine' has no good trial out of 3 \(3 × out of"):
        summarise_study(FACTS, tmp_path / "study.journal", "s", {}, {"trials": 3}, {})


def test_a_journal_on_a_full_disk_is_named(tmp_path, monkeypatch):
    def full(**_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(study.optuna, "create_study", full)
    journal = str(tmp_path / "study.journal")
    with pytest.raises(UserError, match=f"No space left to write {journal}"):
        summarise_study(FACTS, journal, "s", {}, {"trials": 1}, {})


def _edited(path: Path, change) -> None:
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(change(lines)))


@pytest.mark.parametrize(
    "change",
    [
        lambda lines: [*lines[:-1], re.sub('"value":[0-9.]+', '"value":99.9', lines[-1])],
        lambda lines: [line.replace('"worker":0', '"worker":1') for line in lines],
        lambda lines: lines[:2] + lines[3:],
        lambda lines: [*lines, lines[-1]],
        lambda lines: [*lines[:-1], lines[-1].replace('"', "'")],
        lambda lines: [re.sub(',"seal":"[0-9a-f]+"', "", line) for line in lines],
    ],
    ids=["a score", "a worker", "a trial gone", "a trial twice", "no JSON", "no checksums"],
)
def test_an_edited_journal_is_refused_by_name(tmp_path, change):
    """Else the worst trial could be made the best, and refitted."""
    search(tmp_path, 5)
    _edited(tmp_path / "study.journal", change)
    with pytest.raises(UserError, match=r"study\.journal cannot be read as the journal"):
        open_study(tmp_path / "study.journal", "s")


def test_a_journal_that_was_cut_after_the_workers_reported(tmp_path):
    search(tmp_path, 5)
    (tmp_path / "worker0.json").write_text("{}")
    _edited(tmp_path / "study.journal", lambda lines: lines[:-1])
    with pytest.raises(UserError, match=r"has 4 trials, fewer than were made.*worker0\.json and"):
        summarise_study(FACTS, tmp_path / "study.journal", "s", {}, {"trials": 5}, {})


def test_an_incomplete_line_is_dropped(tmp_path):
    whole = points(search(tmp_path, 5))
    journal = tmp_path / "study.journal"
    journal.write_bytes(journal.read_bytes() + b'{"op_code": 4, "wor')
    assert points(search(tmp_path, 5)) == whole
    assert len(search(tmp_path, 7)) == 7


def test_a_trial_that_kills_its_worker_twice_is_given_up(tmp_path):
    """As one that eats all memory; the trials after it are made."""

    class Killed(BaseException):
        pass

    calls = []

    def deadly(parameters):
        calls.append(parameters)
        if len(calls) in (3, 4):
            raise Killed
        return try_out(parameters)

    for _ in range(2):
        with pytest.raises(Killed):
            search(tmp_path, 6, deadly)
    trials = search(tmp_path, 6, deadly)
    assert calls[2] == calls[3]  # the first time it may have been no fault of the trial's
    assert [trial.user_attrs.get("reason") for trial in trials] == [
        *[None] * 2,
        KILLED_TWICE,
        *[None] * 3,
    ]


@pytest.fixture
def interruptible():
    """A shell's job in the background ignores SIGINT, and so would these tests in it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("ends_by", [signal.SIGTERM, signal.SIGINT])
def test_ends_by_sigterm_are_no_kills(tmp_path, ends_by):
    """So end the time limits of schedulers. One kill before and one after are two kills."""

    class Killed(BaseException):
        pass

    def killed(parameters):
        raise Killed

    def stopped(parameters):
        signal.raise_signal(ends_by)

    ended = UserError if ends_by == signal.SIGTERM else KeyboardInterrupt
    for _ in range(3):
        with pytest.raises(ended, match="asked to stop" if ended is UserError else None):
            search(tmp_path, 2, stopped)
    assert not (tmp_path / "worker0.begun").exists()
    for attempt, error in ((killed, Killed), (stopped, ended), (killed, Killed)):
        with pytest.raises(error):
            search(tmp_path, 2, attempt)
    first, second = search(tmp_path, 2)
    assert first.user_attrs["reason"] == KILLED_TWICE and second.value is not None
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


PROGRAM = """
import sys, time
sys.path.insert(0, {tests!r})
from pathlib import Path
from test_study import search, try_out

def slow(parameters):
    print("trial", flush=True)
    time.sleep(0.05)
    return try_out(parameters)

search(Path(sys.argv[1]), 12, slow)
"""


def test_killed_studies_have_every_trial_once(tmp_path):
    """SIGKILL at many moments, in trials and between them; the result is the uninterrupted one."""
    whole = points(search(tmp_path / "whole", 12))
    program = [sys.executable, "-c", PROGRAM.format(tests=str(Path(__file__).parent))]
    for delay in (0.0, 0.045, 0.055):
        process = subprocess.Popen([*program, tmp_path / "killed"], stdout=subprocess.PIPE)
        for _ in range(2):  # the trial that was cut off, and one more
            process.stdout.readline()
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.wait()
    done = len(open_study(tmp_path / "killed" / "study.journal", "s").get_trials())
    assert 3 <= done < 12  # all of them were killed on the way
    subprocess.run([*program, tmp_path / "killed"], check=True, stdout=subprocess.PIPE)
    finished = open_study(tmp_path / "killed" / "study.journal", "s").get_trials()
    assert points(finished) == whole

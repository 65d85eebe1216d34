"""What a person sees of a run: how far it is, how long it takes, what failed and why."""

from __future__ import annotations

import io
import logging
import re
from types import SimpleNamespace

import pytest
from conftest import ROOT
from snakemake_interface_logger_plugins.common import LogEvent
from snakemake_interface_logger_plugins.tests import MockOutputSettings, TestLogHandlerBase

import snakemake_logger_plugin_iunet as terminal
from iunet.cli import prepared
from iunet.errors import SHOWS_FAILURES
from iunet.labels import duration
from snakemake_logger_plugin_iunet import LogHandler
from snakemake_logger_plugin_iunet.status import NAMES_ONLY, STAGES, Status


class TestPlugin(TestLogHandlerBase):
    """Snakemake's own tests of logger plugins."""

    __test__ = True

    def get_log_handler_cls(self):
        return LogHandler

    def get_log_handler_settings(self):
        return None


# ---- the status


def test_every_rule_has_the_stage_of_its_file():
    for path in (ROOT / "workflow" / "rules").glob("*.smk"):
        text = path.read_text()
        rules = set(re.findall(r"^(?:use rule \w+ as|rule) (\w+)", text, flags=re.MULTILINE))
        assert rules - set(NAMES_ONLY) == set(STAGES.get(path.stem, ()))


def half_done() -> Status:
    status = Status()
    status.plan({"split_table": 2, "supernet": 4, "table": 1, "all": 1, "total": 8}, now=0)
    status.start(1, "split_table", "", now=0)
    status.start(2, "split_table", "", now=0)
    status.finish(1, now=1)
    status.finish(2, now=1)
    status.start(3, "supernet", "Supernet of wine", now=1)
    status.start(4, "supernet", "Supernet of iris", now=1)
    status.finish(3, now=11)
    return status


def test_time_left_from_means_of_rules_and_jobs_side_by_side():
    status = half_done()
    # Left: 3 supernets of 10 s, of which 10 s are spent, and a table of the mean of all, 4 s.
    # In 11 s of the run, 1 + 1 + 10 + 10 s were worked.
    assert status.seconds_left(now=11) == pytest.approx((3 * 10 - 10 + 4) / 2)
    assert Status().seconds_left(now=5) is None


def test_before_a_training_is_finished_no_time_left_is_shown():
    status = Status()
    rules = ("download_images", "split_images", "initialise", "supernet", "evaluate_supernet")
    status.plan(dict.fromkeys(rules, 1), now=0)
    for job, rule in enumerate(rules[:3], start=1):
        status.start(job, rule, "", now=2 * job - 2)
        status.finish(job, now=2 * job)
    status.start(4, "supernet", "", now=6)
    assert status.line(now=600) == "3 of 5 jobs (60 %): supernet 1 of 2"


def test_the_line_names_the_stages_at_work():
    assert half_done().line(now=11) == "3 of 7 jobs (42 %), about 12 s left: supernet 1 of 4"


def test_a_job_that_is_tried_again_has_not_failed():
    status = half_done()
    status.fail(4)
    assert "1 failed" in status.line(now=12)
    assert status.summary(now=12) == "3 of 7 jobs done in 12 s, 1 failed, 3 not run"
    status.start(4, "supernet", "", now=13)
    assert "failed" not in status.line(now=13)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(40, "40 s"), (300, "5 min"), (7200, "2 h"), (12_000, "3 h 20 min"), (183_600, "2 days 3 h")],
)
def test_duration(seconds, words):
    assert duration(seconds) == words


# ---- the handler


class Terminal(io.StringIO):
    def __init__(self, tty: bool):
        super().__init__()
        self.isatty = lambda: tty


@pytest.fixture
def say(monkeypatch):
    """A handler, told a few events; gives what it has written since the last call."""
    # Set and taken back: the handler sets it for the jobs of its process.
    monkeypatch.setenv(SHOWS_FAILURES, "")
    monkeypatch.setenv("TERM", "xterm")
    moment = iter(range(1000))

    def start(tty: bool, **settings):
        screen = Terminal(tty)
        monkeypatch.setattr("sys.stderr", screen)
        monkeypatch.setattr("sys.stdout", screen)
        wanted = MockOutputSettings()
        for key, value in {"printshellcmds": False, "show_failed_logs": False, **settings}.items():
            setattr(wanted, key, value)
        handler = LogHandler(wanted, None)

        def tell(event=None, msg="", level=logging.INFO, **extra) -> str:
            if event == "close":
                handler.close()
            else:
                record = logging.LogRecord("snakemake", level, "", 1, msg, (), None)
                record.created = float(next(moment))
                vars(record).update(extra, **({"event": event} if event else {}))
                handler.handle(record)
            text = screen.getvalue()
            screen.seek(0)
            screen.truncate()
            return text

        return tell

    return start


def job(number: int, rule: str = "supernet") -> dict:
    return {
        "jobid": number,
        "rule_name": rule,
        "rule_msg": f"Supernet {number}",
        "input": [],
        "output": [],
        "log": [],
        "wildcards": {},
        "reason": "Missing output files",
        "resources": {},
        "priority": 0,
        "threads": 1,
        "benchmark": None,
        "local": True,
        "is_checkpoint": False,
    }


def test_a_line_now_and_then_without_a_terminal(say):
    tell = say(tty=False)
    stats = {"supernet": 40, "all": 1, "total": 41}
    assert tell(LogEvent.RUN_INFO, "Job stats", stats=stats) == "40 jobs: supernet 40\n"
    written = ""
    for number in range(40):
        written += tell(LogEvent.JOB_INFO, **job(number))
        written += tell(LogEvent.JOB_FINISHED, "Finished", job_id=number)
        written += tell(None, "Select jobs to execute...")
    assert len(written.splitlines()) == 10 and "\r" not in written
    assert written.splitlines()[0].startswith("4 of 40 jobs (10 %), about ")
    assert tell("close").startswith("40 jobs done in ")
    assert tell("close") == ""


def test_the_last_line_of_a_terminal_is_redrawn(say):
    tell = say(tty=True)
    tell(LogEvent.RUN_INFO, "Job stats", stats={"split_table": 1, "supernet": 1, "total": 2})
    assert tell(LogEvent.JOB_INFO, **job(1, "split_table")).startswith("\r\033[K0 of 2 jobs (0 %)")
    finished = tell(LogEvent.JOB_FINISHED, "Finished", job_id=1)
    assert finished.startswith("\r\033[Ksplit      1 of 1\n1 of 2 jobs (50 %)")


@pytest.mark.parametrize("tty", [True, False])
def test_a_failure_with_the_last_lines_of_its_log(say, tmp_path, monkeypatch, tty):
    tell = say(tty=tty)
    log = tmp_path / "supernet.log"
    log.write_text("\n".join(f"line {i}" for i in range(100)))
    tell(LogEvent.RUN_INFO, "Job stats", stats={"supernet": 1, "total": 1})
    tell(LogEvent.JOB_INFO, **job(1))
    beside = tell(LogEvent.ERROR, "Command 'x' returned non-zero exit status 1.", logging.ERROR)
    assert "Command" not in beside
    error = {**job(1), "log": [str(log)], "rule_msg": "TIMEOUT", "aux": {}, "conda_env": None}
    text = tell(LogEvent.JOB_ERROR, "Error in rule supernet", logging.ERROR, **error)
    assert "Failed: Supernet 1 (rule supernet, job 1)" in text and "TIMEOUT" in text
    assert "line 99" in text and "line 88" in text and "line 87" not in text
    error["log"] = [str(tmp_path / "none.log")]
    text = tell(LogEvent.JOB_ERROR, "Error in rule supernet", logging.ERROR, **error)
    assert "was not written" in text and "full" not in text
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=4096))
    text = tell(LogEvent.JOB_ERROR, "Error in rule supernet", logging.ERROR, **error)
    assert f"was not written: the disk of {tmp_path}/ is full (4,096 bytes free)" in text
    assert "0 of 1 job done in" in tell("close")


@pytest.mark.parametrize(
    ("level", "text"),
    [
        (logging.ERROR, "Command 'x' died with <Signals.SIGKILL: 9>."),
        (logging.ERROR, "WorkflowError: no rule to produce it"),
        (logging.WARNING, "Select jobs to execute: warned"),
        (logging.INFO, "Nothing to be done (all requested files are present and up to date)."),
    ],
)
def test_nothing_else_is_lost(say, level, text):
    tell = say(tty=False)
    event = LogEvent.ERROR if level == logging.ERROR else None
    assert text in tell(event, text, level, exception="RuleException")


@pytest.mark.parametrize(
    "around",
    [
        'WorkflowError in file "/a.smk", line 2:\n{}\n  File "/b.smk", line 3, in user_errors',
        'InputFunctionException in rule table in file "/b.smk", line 4:\nError:\n  WorkflowError:\n'
        '    {}\nWildcards:\n  table=table9\nTraceback:\n  File "/a.smk", line 8, in user_errors',
    ],
)
def test_an_error_of_the_users_is_its_message_alone(say, around):
    message = "The config key 'seeds' is []: name one."
    event = LogEvent.ERROR
    text = say(tty=False)(event, around.format(message), logging.ERROR, exception="WorkflowError")
    assert text == f"{message}\n"


def test_a_record_that_cannot_be_read_is_shown_as_snakemake_shows_it(say, monkeypatch):
    monkeypatch.setattr(logging, "raiseExceptions", False)
    assert "42 steps" in say(tty=False)(LogEvent.RUN_INFO, "42 steps")  # without its numbers


def test_a_dry_run_is_counts_and_hours_and_with_verbose_jobs_with_reasons(say, monkeypatch):
    planned = []
    monkeypatch.setattr(terminal, "hours_in_words", lambda jobs: planned.extend(jobs) or "3 hours.")
    tell = say(tty=True, dryrun=True, stdout=True)
    for _ in range(2):  # Snakemake says it before and after the jobs
        assert not tell(LogEvent.RUN_INFO, stats={"supernet": 1, "prune": 2, "total": 3})
        assert not tell(LogEvent.JOB_INFO, **job(1)) and not tell(None, "This was a dry-run")
    assert tell("close").startswith("3 jobs would run: supernet 1, prune 2\n3 hours. Add --verbose")
    assert planned == [("supernet", {})] * 2
    tell = say(tty=True, dryrun=True, stdout=True, verbose=True)
    assert not tell(None, "Handle temp files for job evaluate", logging.DEBUG)
    assert not tell(LogEvent.RUN_INFO, stats={"supernet": 1, "total": 1})
    listed = tell(LogEvent.JOB_INFO, **job(1))
    assert "Supernet 1\n" in listed and "Reason: Missing output files" in listed
    assert tell("close") == "1 job would run: supernet 1\n3 hours.\n"


def test_verbose_in_a_run_shows_all_that_snakemake_says(say):
    tell = say(tty=True, verbose=True)
    assert "temp files" in tell(None, "Handle temp files for job evaluate", logging.DEBUG)


@pytest.mark.parametrize(
    ("given", "understood"),
    [
        (["t.csv", "-n"], ["--logger=iunet", "t.csv", "-n"]),
        (["--logger", "other"], ["--logger", "other"]),
        (["--logger=other"], ["--logger=other"]),
    ],
)
def test_the_command_asks_for_it(given, understood, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert prepared(given) == understood

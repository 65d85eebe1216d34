"""A logger plugin for Snakemake: a run that a person can follow (`snakemake --logger iunet`).

In a terminal the last line says how far the run is, with the finished stages above it; elsewhere
a line is written now and then. A failed job is shown with the last lines of its log. A dry run is
a line of counts per stage and a line of hours; `-n --verbose` lists every job with its reason above
them. Whatever else Snakemake warns of or says is shown as Snakemake shows it, and its own log file
keeps everything. `--verbose` in a run, `--printshellcmds`, `--debug-dag` and `--quiet` show
Snakemake's own output instead.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import sys
from collections.abc import Callable
from typing import Any

from snakemake.logging import ColorizingTextHandler, DefaultFilter, DefaultFormatter
from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from iunet.errors import SHOWS_FAILURES
from snakemake_logger_plugin_iunet.status import Status, last_lines, stage_of

PAUSE_S = 60.0  # between two lines, where no terminal is, unless a tenth more is done
CHATTER = (  # messages of every run that are of no use to a person
    "Building DAG of jobs",
    "Select jobs to execute",
    "Using shell:",
    "Group jobs: inactive",
    "Conda environments: ignored",
    "Singularity containers: ignored",
    "Assuming unrestricted shared filesystem usage",
    "Job rate limit reached",
    "Elapsed time:",
    "Reasons:",
    "This was a dry-run",
)
SHOWN_BY_NUMBERS = {
    LogEvent.JOB_STARTED,
    LogEvent.GROUP_INFO,
    LogEvent.PROGRESS,
    LogEvent.RESOURCES_INFO,
    LogEvent.RULEGRAPH,
    LogEvent.SHELLCMD,
    LogEvent.WORKFLOW_STARTED,
}
EXIT_1 = "returned non-zero exit status 1."
Planned = list[tuple[str, dict[str, Any]]]  # rules and wildcards of jobs
# Set by workflow/rules/machine.smk: what planned jobs take, in words.
hours_in_words: Callable[[Planned], str] | None = None
USER_ERRORS = "in user_errors"  # of workflow/rules/common.smk: their message says all
AROUND = re.compile(  # what Snakemake adds to a message: where it was raised
    r'^(\w+ in (rule|file) .*:|Error:|  WorkflowError:|Wildcards:|  \w+=.*|Traceback:|  File ".*)$',
    re.MULTILINE,
)
RED, RESET, ERASE = "\033[31m", "\033[0m", "\r\033[K"


class LogHandler(LogHandlerBase):
    writes_to_stream = True
    writes_to_file = False
    has_filter = True
    has_formatter = True
    needs_rulegraph = False

    def __post_init__(self) -> None:
        asked = self.common_settings
        self.snakemakes_own = ColorizingTextHandler(
            nocolor=asked.nocolor,
            stream=sys.stdout if asked.stdout else sys.stderr,
            formatter=DefaultFormatter(asked.quiet, asked.show_failed_logs),
            filter=DefaultFilter(
                asked.quiet, asked.debug_dag, asked.verbose, asked.dryrun, asked.printshellcmds
            ),
        )
        self.dryrun, self.lists_jobs = asked.dryrun, asked.dryrun and asked.verbose
        self.shows_all = bool(
            (asked.verbose and not asked.dryrun)
            or (asked.printshellcmds or asked.debug_dag or asked.quiet)
        )
        self.planned: Planned = []  # the jobs of a dry run
        self.stream = self.snakemakes_own.stream
        self.live = self.snakemakes_own.is_tty and os.environ.get("TERM") != "dumb"
        self.status = Status()
        self.drawn = False  # whether the terminal shows a status line
        self.last_line = (0.0, 0)  # when, and at how many jobs, a line was written
        self.now = 0.0
        if not self.shows_all:
            os.environ[SHOWS_FAILURES] = "1"  # jobs need not write theirs to the terminal

    def emit(self, record: logging.LogRecord) -> None:
        if self.shows_all:
            self.snakemakes_own.handle(record)
            return
        try:
            self.now = record.created
            self._erase()
            self._follow(record, getattr(record, "event", None))
            self._draw()
            self.stream.flush()
        except Exception:
            self.handleError(record)
            self.snakemakes_own.handle(record)

    def close(self) -> None:
        if not self.shows_all and self.status.planned:
            self._erase()
            self._write(self._plan() if self.dryrun else self.status.summary(self.now))
            self.status = Status()  # it is closed twice at times
        super().close()

    def _follow(self, record: logging.LogRecord, event: LogEvent | None) -> None:
        if event == LogEvent.RUN_INFO:
            self.status.plan(record.stats, self.now)
            if not self.dryrun:
                self._write(self.status.counts())
        elif event == LogEvent.JOB_INFO and self.dryrun:
            self.planned.append((record.rule_name, record.wildcards))
            if self.lists_jobs:
                self.snakemakes_own.handle(record)
        elif event == LogEvent.JOB_INFO:
            message = record.rule_msg or record.rule_name
            self.status.start(record.jobid, record.rule_name, message, self.now)
        elif event == LogEvent.JOB_FINISHED:
            if rule := self.status.finish(record.job_id, self.now):
                self._show_progress(rule)
        elif event == LogEvent.JOB_ERROR:
            # The message is a scheduler's: time, memory, cancelled.
            self._show_failures([vars(record)], record.rule_msg)
        elif event == LogEvent.GROUP_ERROR:
            self._show_failures(record.job_error_info, record.msg)
        elif not self._is_chatter(record, event):
            if event == LogEvent.ERROR and USER_ERRORS in record.getMessage():
                record.msg, record.args = AROUND.sub("", record.getMessage()).strip(), ()
            self.snakemakes_own.handle(record)

    def _plan(self) -> str:
        """What a dry run says."""
        hours = hours_in_words(self.planned) if hours_in_words and self.planned else ""
        more = "Add --verbose to list every job with the reason why it would run."
        last = f"{hours} {'' if self.lists_jobs else more}".strip()
        return f"{self.status.counts(' would run')}\n{last}".strip()

    def _is_chatter(self, record: logging.LogRecord, event: LogEvent | None) -> bool:
        if event == LogEvent.ERROR and str(record.msg).endswith(EXIT_1):
            return True  # of a script that failed, which is shown with its log
        if record.levelno <= logging.DEBUG:
            return True
        if record.levelno > logging.INFO:
            return False
        return event in SHOWN_BY_NUMBERS or (event is None and str(record.msg).startswith(CHATTER))

    def _show_progress(self, rule: str) -> None:
        """After a job of that rule: a finished stage in a terminal, elsewhere the line at times."""
        if self.live:
            done, planned = self.status.stages()[stage_of(rule)]
            if done == planned:
                self._write(f"{stage_of(rule):10} {planned} of {planned}")
            return
        at, done = self.last_line
        if self.status.done - done >= max(self.status.total / 10, 1) or self.now - at >= PAUSE_S:
            self.last_line = (self.now, self.status.done)
            self._write(self.status.line(self.now))

    def _show_failures(self, jobs: list[dict], message: str | None) -> None:
        for job in jobs:
            title = self.status.fail(job["jobid"]) or job["rule_name"]
            text = f"Failed: {title} (rule {job['rule_name']}, job {job['jobid']})"
            text = "\n".join([text, *map(last_lines, job["log"])])
            self._write(text if self.snakemakes_own.nocolor else f"{RED}{text}{RESET}")
        if message:
            self._write(f"  {message}")

    # ---- the terminal

    def _write(self, text: str) -> None:
        self.stream.write(f"{text}\n")

    def _erase(self) -> None:
        if self.drawn:
            self.stream.write(ERASE)
            self.drawn = False

    def _draw(self) -> None:
        if self.live and self.status.planned and not self.dryrun:
            width = shutil.get_terminal_size().columns - 1
            self.stream.write(self.status.line(self.now)[:width])
            self.drawn = True

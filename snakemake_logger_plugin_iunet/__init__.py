"""A logger plugin for Snakemake: a run that a person can follow (`snakemake --logger iunet`).

In a terminal the last line says how far the run is, and finished stages stand above it; elsewhere
a line is written now and then. A job that failed is shown with the last lines of its log. Whatever
else Snakemake warns of or says is shown as Snakemake shows it, and its own log file keeps
everything. `--dry-run`, `--verbose`, `--printshellcmds`, `--debug-dag` and `--quiet` ask for
Snakemake's own output, and get it.
"""

from __future__ import annotations

import logging
import os
import shutil
import sys

from snakemake.logging import ColorizingTextHandler, DefaultFilter, DefaultFormatter
from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from iunet.errors import SHOWS_FAILURES
from snakemake_logger_plugin_iunet.status import Status, stage_of

PAUSE_S = 60.0  # between two lines, where no terminal is, unless a tenth more is done
CHATTER = (  # said before every run, or again and again, and of no use to a person
    "Building DAG of jobs",
    "Select jobs to execute",
    "Using shell:",
    "Group jobs: inactive",
    "Conda environments: ignored",
    "Singularity containers: ignored",
    "Assuming unrestricted shared filesystem usage",
    "Job rate limit reached",
    "Elapsed time:",
)
COUNTED = {  # shown by numbers
    LogEvent.JOB_INFO,
    LogEvent.JOB_STARTED,
    LogEvent.JOB_FINISHED,
    LogEvent.GROUP_INFO,
    LogEvent.PROGRESS,
    LogEvent.RESOURCES_INFO,
    LogEvent.RULEGRAPH,
    LogEvent.RUN_INFO,
    LogEvent.SHELLCMD,
    LogEvent.WORKFLOW_STARTED,
}
EXIT_1 = "returned non-zero exit status 1."
RED, RESET = "\033[31m", "\033[0m"


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
        self.shows_all = bool(
            asked.dryrun or asked.verbose or asked.printshellcmds or asked.debug_dag or asked.quiet
        )
        self.stream = self.snakemakes_own.stream
        self.live = self.snakemakes_own.is_tty and os.environ.get("TERM") != "dumb"
        self.colour = not self.snakemakes_own.nocolor
        self.status = Status()
        self.stages_done: set[str] = set()
        self.drawn = False  # whether a status line stands in the terminal
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
            self._note(record)
            self._erase()
            self._show(record)
            self._draw()
            self.stream.flush()
        except Exception:
            self.handleError(record)
            self.snakemakes_own.handle(record)

    def close(self) -> None:
        if not self.shows_all and self.status.planned:
            self._erase()
            self._write(self.status.summary(self.now))
            self.status = Status()  # it is closed twice at times
        super().close()

    # ---- what is known

    def _note(self, record: logging.LogRecord) -> None:
        event = getattr(record, "event", None)
        if event == LogEvent.RUN_INFO:
            self.status.plan(record.stats, self.now)
        elif event == LogEvent.JOB_INFO:
            message = record.rule_msg or ""
            self.status.start(record.jobid, record.rule_name, message, self.now)
        elif event == LogEvent.JOB_FINISHED:
            self.status.finish(record.job_id, self.now)
        elif event == LogEvent.JOB_ERROR:
            self.status.fail(record.jobid)
        elif event == LogEvent.GROUP_ERROR:
            for job in record.job_error_info:
                self.status.fail(job["jobid"])

    # ---- what is shown

    def _show(self, record: logging.LogRecord) -> None:
        event = getattr(record, "event", None)
        if event == LogEvent.RUN_INFO:
            stages = (f"{stage} {n}" for stage, (_, n) in self.status.stages().items())
            self._write(f"{self.status.total} jobs: {', '.join(stages)}")
        elif event == LogEvent.JOB_FINISHED:
            self._show_progress(record.job_id)
        elif event == LogEvent.JOB_ERROR:
            self._show_failure(record.jobid, record.rule_name, record.log)
            if record.rule_msg:  # a scheduler's: time, memory, cancelled
                self._write(f"  {record.rule_msg}")
        elif event == LogEvent.GROUP_ERROR:
            for job in record.job_error_info:
                self._show_failure(job["jobid"], job["rule_name"], job["log"])
            if record.msg:
                self._write(f"  {record.msg}")
        elif not self._is_chatter(record, event):
            self.snakemakes_own.handle(record)

    def _is_chatter(self, record: logging.LogRecord, event: LogEvent | None) -> bool:
        if event == LogEvent.ERROR and str(record.msg).endswith(EXIT_1):
            return True  # of a script that failed, which is shown with its log
        if record.levelno > logging.INFO:
            return False
        return event in COUNTED or (event is None and str(record.msg).startswith(CHATTER))

    def _show_progress(self, job: int) -> None:
        if job not in self.status.jobs:
            return
        if not self.live:
            at, done = self.last_line
            tenth = max(self.status.total / 10, 1)
            if self.status.done - done >= tenth or self.now - at >= PAUSE_S:
                self.last_line = (self.now, self.status.done)
                self._write(self.status.line(self.now))
            return
        stage = stage_of(self.status.jobs[job].rule)
        done, planned = self.status.stages()[stage]
        if done == planned and stage not in self.stages_done:
            self.stages_done.add(stage)
            self._write(f"{stage:10} {planned} of {planned}")

    def _show_failure(self, job: int, rule: str, logs: list[str]) -> None:
        text = self.status.failure(job, rule, list(logs))
        self._write(f"{RED}{text}{RESET}" if self.colour else text)

    # ---- the terminal

    def _write(self, text: str) -> None:
        self.stream.write(f"{text}\n")

    def _erase(self) -> None:
        if self.drawn:
            self.stream.write("\r\033[K")
            self.drawn = False

    def _draw(self) -> None:
        if self.live and self.status.planned:
            width = shutil.get_terminal_size().columns - 1
            self.stream.write(self.status.line(self.now)[:width])
            self.drawn = True

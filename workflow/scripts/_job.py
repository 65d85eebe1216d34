"""What every script does first: find the package, open the log, and fail in a readable way.

A stage is a plain function of iunet/: docs/extending.md shows how to call it in a debugger.
"""

from __future__ import annotations

import atexit
import functools
import importlib.metadata
import logging
import os
import sys
import traceback
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # conda environments do not have the package installed

from iunet.artifacts import check_inputs, remove_leftovers, sha256, sign  # noqa: E402
from iunet.baselines.catalog import LEARNERS  # noqa: E402
from iunet.errors import SHOWS_FAILURES, SetupError, UserError, printable  # noqa: E402
from iunet.machine.device import (  # noqa: E402
    check_threads,
    check_xgboost_gpu,
    device_failure,
    device_of_job,
    explain_failure,
)
from iunet.machine.gpu_slot import claim_gpu  # noqa: E402
from iunet.machine.run_lock import lock_run  # noqa: E402
from iunet.machine.time_limit import interrupt_at_hangup, sent_by_scheduler  # noqa: E402
from iunet.provenance import joined_code  # noqa: E402
from iunet.runs import paths  # noqa: E402
from iunet.runs.names import base_network  # noqa: E402
from iunet.runs.settings import learner_threads  # noqa: E402

TOO_LARGE = 3  # times the memory there is: an estimate may be wrong, but not by so much
DATA_LOG = "iunet.data.download"  # its warnings are for the data's owner


def start(script: dict[str, Any]) -> Job:
    """The job of a script (given its globals), with log and errors set up.

    Inputs of other runs are refused, and every output will say that it is this job's.
    """
    snakemake = script["snakemake"]
    atexit.register(_leave)  # before the lock's, so it is called after it
    interrupt_at_hangup()
    _open_log(Path(snakemake.log[0]))
    lock_run(snakemake.output[0])
    for path in snakemake.output:
        remove_leftovers(path)
    job = Job(snakemake)
    gpu = job.run, snakemake.resources.get("gpu_mb", 0), job.config["jobs_per_gpu"]
    results = job.config["results"]
    sys.excepthook = functools.partial(_report, gpu=gpu, no_retry=Path(results, paths.NO_RETRY))
    job.check_memory(snakemake.resources.get("mem_mb", 0))
    before = check_inputs(job.params.made_by["inputs"])
    sign({**job.params.made_by["own"], "code": joined_code(before, job.code)})
    return job


class Job:
    """A job of Snakemake, as its script needs it."""

    def __init__(self, snakemake: Any):
        self.inputs: dict[str, Any] = dict(snakemake.input.items())
        self.outputs: dict[str, str] = dict(snakemake.output.items())
        self.output: str = snakemake.output[0]  # of a job with one
        self.params, self.wildcards = snakemake.params, snakemake.wildcards
        self.config, self.threads = snakemake.config, snakemake.threads
        folder = str(Path(self.output).parent)
        # The run as its path names it, for logs, reports and errors.
        self.run = folder.partition("/runs/")[2] or folder

    @property
    def code(self) -> dict[str, list[str]]:
        """The versions among the parameters: `iunet.training.loop 45439a88`, or several of them."""
        lines = [p for p in self.params if isinstance(p, str) and p.startswith("iunet.")]
        pairs = (entry.split(" ") for line in lines for entry in line.split(", "))
        return {module: [version] for module, version in pairs}

    def facts(self, *names: str) -> dict[str, str]:
        """These coordinates of the run, as its results name them."""
        return {name: self.wildcards[name] for name in names}

    def check_memory(self, asked: Any) -> None:
        """Refuse a job that cannot fit; what it asks for is an estimate with a margin."""
        machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20
        present = int(os.environ.get("SLURM_MEM_PER_NODE", 0)) or machine  # Slurm's 0 means all
        if isinstance(asked, int) and asked > TOO_LARGE * present:
            raise UserError(
                f"{self.run} asks for {asked / 1024:.0f} GiB of memory, but this machine has "
                f"{present / 1024:.0f} GiB. Make the network smaller (the config key 'networks'), "
                "or run it elsewhere."
            )

    def benchmark(self) -> Any:
        """What the config asks for, of a job that shows results (iunet/runs/entries.py)."""
        from iunet import shown

        return shown.benchmark(self.config)

    # ---- the machine

    @property
    def device(self) -> str:
        """cpu or cuda, by the job's network or learner."""
        name = self.wildcards.get("learner") or base_network(self.wildcards.network)
        return device_of_job(self.config, name)

    def _claim_device(self) -> str:
        """The same; of several GPUs the job takes one for itself, before CUDA looks for them."""
        if self.device == "cuda":
            claim_gpu(self.config["jobs_per_gpu"])
        return self.device

    def torch_device(self) -> Any:
        """The device of a training job, with torch set up for it.

        Device and threads are not among a rule's parameters: another machine is no reason to
        repeat.
        """
        device = self._claim_device()
        from iunet.training.support.environment import set_up_torch

        train = self.config["train"]
        return set_up_torch(device, train["threads"], self.threads, train["tf32"])

    def machine(self) -> Any:
        """Device and threads of a tuned learner; torch is set up only for those that use it."""
        from iunet.baselines.learner import Machine

        learner = self.wildcards.learner
        if LEARNERS[learner].torch:
            return Machine(str(self.torch_device()), self.threads)
        wanted = learner_threads(self.config, learner)
        check_threads(f"tuning.{learner}.threads", wanted, self.threads)
        device = self._claim_device()
        if device == "cuda":
            check_xgboost_gpu()
        return Machine(device, self.threads)

    # ---- trainings

    def training(self) -> Any:
        """What a training stage gets besides its files and settings."""
        from iunet.training.support import job

        device, every = self.torch_device(), self.config["train"]["validate_every"]
        return job.Job(self.run, device, self.identity(), self.checkpoint_s, every)

    @property
    def checkpoint_s(self) -> float:
        """Seconds between checkpoints: fewer where many jobs write to one file system."""
        return self.config["cluster" if sent_by_scheduler() else "train"]["checkpoint_s"]

    def identity(self, without: list[str] = ()) -> dict[str, Any]:
        """What makes a run this run and no other: a checkpoint of another one is not taken up."""
        files = {name: path for name, path in self.inputs.items() if name not in without}
        return {
            "id": self.params.made_by["own"]["id"],
            "code": self.code,
            "threads": self.threads,
            "device": self.device,
            "tf32": self.config["train"]["tf32"],
            "torch": importlib.metadata.version("torch"),
            "inputs": {name: sha256(path) for name, path in files.items()},
        }


def _open_log(path: Path) -> None:
    """The log file gets everything; the terminal gets errors only, since jobs run side by side, and
    not even those where Snakemake shows them; but always warnings of data.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    terminal = logging.StreamHandler()
    shown = logging.CRITICAL + (SHOWS_FAILURES in os.environ)
    terminal.addFilter(
        lambda record: record.levelno >= (logging.WARNING if record.name == DATA_LOG else shown)
    )
    logging.basicConfig(
        level=logging.INFO,
        format="%(asctime)s %(levelname)s %(message)s",
        handlers=[logging.FileHandler(path, "w", "utf-8"), terminal],
        force=True,
    )
    for handler in logging.getLogger().handlers:
        handler.addFilter(_show_hidden)
    logging.raiseExceptions = False  # a log on a full disk is no reason to bury the error itself


def _show_hidden(record: logging.LogRecord) -> bool:
    """Write what cannot be seen in a message, as in names of a file's columns, as escapes."""
    if record.levelno < logging.CRITICAL:  # tracebacks have lines
        record.msg, record.args = printable(record.getMessage()), ()
    return True


# ---- how a job ends


def _report(
    kind: type[BaseException],
    error: BaseException,
    trace: Any,
    gpu: Any = (),
    no_retry: Path | None = None,
) -> None:
    """Errors that the user can put right as one paragraph, others with their traceback.

    What no attempt can mend is also left for Snakemake (workflow/rules/machine.smk).
    """
    atexit.unregister(_leave)
    text = "".join(traceback.format_exception(kind, error, trace))
    if isinstance(error, UserError):
        text = str(error)
    if no_retry and isinstance(error, SetupError):
        no_retry.write_text(text, encoding="utf-8")
    if gpu and device_failure(error):
        text = explain_failure(error, *gpu)
    if isinstance(error, KeyboardInterrupt):
        text = "Interrupted."
    if isinstance(error, ModuleNotFoundError) and not str(error.name).startswith("iunet"):
        text = (
            f"The package '{error.name}' is not installed in {sys.prefix}. Run `make setup`, which "
            "installs everything into .venv, and start the workflow with .venv/bin/snakemake."
        )
    logging.getLogger().critical(text)


def _leave() -> None:
    """End a job that went well at once: taking torch apart costs a fifth of a short job."""
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


sys.excepthook = _report  # already for what a script imports after this module

"""What every script does first: find the package, open the log, and fail in a readable way.

A stage is a plain function of iunet/: docs/extending.md shows how to call it in a debugger.
"""

from __future__ import annotations

import atexit
import importlib.metadata
import logging
import os
import sys
import traceback
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # conda environments do not have the package installed

from iunet.artifacts import check_inputs, sign  # noqa: E402
from iunet.artifacts import sha256 as fingerprint  # noqa: E402
from iunet.baselines.catalog import LEARNERS  # noqa: E402
from iunet.errors import SHOWS_FAILURES, UserError  # noqa: E402
from iunet.machine.allocation import memory_mb, was_sent  # noqa: E402
from iunet.machine.device import device_of, no_gpu_message, visible_gpus  # noqa: E402
from iunet.machine.gpu_slot import PER_GPU, claim_gpu  # noqa: E402
from iunet.machine.run_lock import lock_run  # noqa: E402
from iunet.machine.threads import check_threads  # noqa: E402
from iunet.provenance import joined_code  # noqa: E402
from iunet.runs.names import base_network  # noqa: E402
from iunet.runs.settings import learner_threads  # noqa: E402

_failed: list[BaseException] = []
TOO_LARGE = 3  # times the memory there is: an estimate may be wrong, but not by so much


def start(script: dict[str, Any]) -> Any:
    """The `snakemake` object of a script (given its globals), with log and errors set up.

    The log file gets everything; the terminal gets errors only, since jobs run side by side, and
    not even those where Snakemake shows them; but always warnings of data, which their owner should
    see.
    """
    snakemake = script["snakemake"]
    log_file = Path(snakemake.log[0])
    log_file.parent.mkdir(parents=True, exist_ok=True)
    terminal = logging.StreamHandler()
    shown = logging.CRITICAL + (SHOWS_FAILURES in os.environ)
    terminal.addFilter(lambda record: record.levelno >= shown or _warns_of_data(record))
    file = logging.FileHandler(log_file, "w", "utf-8")
    logging.basicConfig(
        level=logging.INFO,
        format="%(asctime)s %(levelname)s %(message)s",
        handlers=[file, terminal],
        force=True,
    )
    logging.raiseExceptions = False  # a log on a full disk is no reason to bury the error itself
    lock_run(snakemake.output[0])
    _check_memory(snakemake)
    _check_and_sign(snakemake)
    return snakemake


def _warns_of_data(record: logging.LogRecord) -> bool:
    own = record.name in ("iunet.data.own_table", "iunet.data.table")
    return own and record.levelno >= logging.WARNING


def _check_memory(snakemake: Any) -> None:
    """Refuse a job that cannot fit; what it asks for is an estimate with a margin."""
    asked, present = snakemake.resources.get("mem_mb", 0), memory_mb()
    if isinstance(asked, int) and asked > TOO_LARGE * present:
        raise UserError(
            f"{run_name(snakemake)} asks for {asked / 1024:.0f} GiB of memory, but there are "
            f"{present / 1024:.0f} GiB here. Make the network smaller (the config key 'networks'), "
            "or run it elsewhere."
        )


def _check_and_sign(snakemake: Any) -> None:
    """Refuse inputs of other runs, and let every output say that it is this job's."""
    who = snakemake.params.made_by
    before = check_inputs(who["inputs"])
    sign({**who["own"], "code": joined_code(before, _code(snakemake))})


def _code(snakemake: Any) -> dict[str, list[str]]:
    """The versions among the parameters: `iunet.training.loop 45439a88`, or several of them."""
    lines = [p for p in snakemake.params if isinstance(p, str) and p.startswith("iunet.")]
    pairs = (entry.split(" ") for line in lines for entry in line.split(", "))
    return {module: [version] for module, version in pairs}


def benchmark(snakemake: Any) -> Any:
    """What the config asks for, of a job that shows results (iunet/runs/entries.py)."""
    from iunet.figures.catalog import declared_figures
    from iunet.runs.validate import validate
    from iunet.tables.catalog import declared_tables

    return validate(snakemake.config, declared_tables() | declared_figures())


def run_name(snakemake: Any) -> str:
    """The run as its path names it, for logs, reports and errors."""
    folder = str(Path(snakemake.output[0]).parent)
    return folder.partition("/runs/")[2] or folder


def torch_device(snakemake: Any) -> Any:
    """The device of a training job, with torch set up for it.

    Device and threads are not among a rule's parameters: another machine is no reason to repeat.
    Of several GPUs the job takes one for itself, before CUDA looks for them.
    """
    device = _device(snakemake)
    if device == "cuda":
        _claim_gpu(snakemake)
    from iunet.training.support.environment import set_up_torch

    train = snakemake.config["train"]
    return set_up_torch(device, train["threads"], snakemake.threads, train["tf32"])


def _claim_gpu(snakemake: Any) -> None:
    os.environ[PER_GPU] = str(snakemake.config["jobs_per_gpu"])
    claim_gpu()


def _device(snakemake: Any) -> str:
    """cpu or cuda, by the job's network or learner."""
    wildcards = snakemake.wildcards
    name = wildcards.get("learner") or base_network(wildcards.network)
    device = device_of(snakemake.config, name)
    if device == "cuda" and not visible_gpus():
        raise UserError(no_gpu_message(snakemake.config, name))
    return device


def machine(snakemake: Any) -> Any:
    """Device and threads of a tuned learner's job; torch is set up only for those that use it."""
    from iunet.baselines.learner import Machine
    from iunet.machine.xgboost_gpu import check_xgboost_gpu

    learner = snakemake.wildcards.learner
    if LEARNERS[learner].torch:
        return Machine(str(torch_device(snakemake)), snakemake.threads)
    check_threads(
        f"tuning.{learner}.threads", learner_threads(snakemake.config, learner), snakemake.threads
    )
    device = _device(snakemake)
    if device == "cuda":
        _claim_gpu(snakemake)
        check_xgboost_gpu()
    return Machine(device, snakemake.threads)


def training_job(snakemake: Any) -> Any:
    """What a training stage is told beside its files and settings."""
    from iunet.training.support.job import Job

    device = torch_device(snakemake)
    train = snakemake.config["train"]
    return Job(
        run_name(snakemake),
        device,
        identity(snakemake),
        checkpoint_s(snakemake),
        train["validate_every"],
    )


def checkpoint_s(snakemake: Any) -> float:
    """Seconds between checkpoints: fewer where many jobs write to one file system."""
    return snakemake.config["cluster" if was_sent() else "train"]["checkpoint_s"]


def identity(snakemake: Any, without: list[str] = ()) -> dict[str, Any]:
    """What makes a run this run and no other: a checkpoint of another one is not taken up."""
    files = {name: path for name, path in snakemake.input.items() if name not in without}
    return {
        "id": snakemake.params.made_by["own"]["id"],
        "code": _code(snakemake),
        "threads": snakemake.threads,
        "device": _device(snakemake),
        "tf32": snakemake.config["train"]["tf32"],
        "torch": importlib.metadata.version("torch"),
        "inputs": {name: fingerprint(path) for name, path in files.items()},
    }


def _report(kind: type[BaseException], error: BaseException, trace: Any) -> None:
    """Errors that the user can put right as one paragraph, others with their traceback."""
    text = str(error) if issubclass(kind, UserError) else ""
    if issubclass(kind, ModuleNotFoundError) and error.name and not error.name.startswith("iunet"):
        text = (
            f"The package '{error.name}' is not installed in {sys.prefix}. `make setup` installs "
            "all that the workflow needs into .venv; start it with .venv/bin/snakemake then."
        )
    _failed.append(error)
    text = text or "".join(traceback.format_exception(kind, error, trace))
    logging.getLogger().critical(text)


def _leave() -> None:
    """End a job that went well at once: taking torch apart costs a quarter of a short job."""
    if not _failed:
        logging.shutdown()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


atexit.register(_leave)  # first, so it is called last
sys.excepthook = _report  # already for what a script imports after this module

"""What every script does first: find the package, open the log, and fail in a readable way.

A script runs as a Snakemake job, or by hand, with the wildcards as arguments:

    python workflow/scripts/split_table.py dataset=breast_cancer --configfile config/demo.yaml
"""

from __future__ import annotations

import argparse
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
from iunet.errors import UserError  # noqa: E402
from iunet.machine.allocation import cores, was_sent  # noqa: E402
from iunet.machine.device import device_of  # noqa: E402
from iunet.machine.gpu_slot import claim_gpu  # noqa: E402
from iunet.machine.run_lock import lock_path, lock_run  # noqa: E402
from iunet.machine.threads import check_threads  # noqa: E402
from iunet.provenance import joined_code  # noqa: E402
from iunet.runs.names import base_network  # noqa: E402
from iunet.runs.settings import learner_threads  # noqa: E402
from iunet.terminal import SHOWS_FAILURES  # noqa: E402


def start(script: dict[str, Any]) -> Any:
    """The `snakemake` object of a script (given its globals), with log and errors set up.

    The log file gets everything; the terminal gets errors only, since jobs run side by side, and
    not even those where Snakemake shows them; but always warnings of data, which their owner should
    see. By hand there is one job, and it may use the whole terminal.
    """
    by_hand = "snakemake" not in script
    snakemake = _by_hand(Path(script["__file__"])) if by_hand else script["snakemake"]
    log_file = Path(snakemake.log[0])
    log_file.parent.mkdir(parents=True, exist_ok=True)
    terminal = logging.StreamHandler()
    watched = by_hand and sys.stderr.isatty()  # then a progress bar takes the place of the log
    shown = logging.INFO if by_hand and not watched else logging.CRITICAL
    if SHOWS_FAILURES in os.environ and not by_hand:
        shown = logging.CRITICAL + 1
    terminal.addFilter(lambda record: record.levelno >= shown or _warns_of_data(record))
    file = logging.FileHandler(log_file, _log_mode(snakemake), "utf-8")
    logging.basicConfig(
        level=logging.INFO,
        format="%(asctime)s %(levelname)s %(message)s",
        handlers=[file, terminal],
        force=True,
    )
    logging.raiseExceptions = False  # a log on a full disk is no reason to bury the error itself
    if watched and "iunet.training.support.progress" in sys.modules:
        sys.modules["iunet.training.support.progress"].show_progress_bar = True
    lock_run(snakemake.output[0])
    _check_and_sign(snakemake)
    return snakemake


def _warns_of_data(record: logging.LogRecord) -> bool:
    own = record.name in ("iunet.data.own_table", "iunet.data.table")
    return own and record.levelno >= logging.WARNING


def _check_and_sign(snakemake: Any) -> None:
    """Refuse inputs of other runs, and let every output say that it is this job's."""
    who = snakemake.params.identity
    before = check_inputs(who["inputs"])
    sign({**who["own"], "code": joined_code(before, _code(snakemake))})


def _code(snakemake: Any) -> dict[str, list[str]]:
    """The versions among the parameters: `iunet.training.loop 45439a88`, or several of them."""
    lines = [p for p in snakemake.params if isinstance(p, str) and p.startswith("iunet.")]
    pairs = (entry.split(" ") for line in lines for entry in line.split(", "))
    return {module: [version] for module, version in pairs}


def _log_mode(snakemake: Any) -> str:
    """By hand, what is resumed, a training or a study, goes on with its log.

    Snakemake removes the log of a job before it starts it. A lock may be a process's that still
    writes to the log.
    """
    output = Path(snakemake.output[0])
    left = [*output.parent.glob("*.checkpoint"), *output.parent.glob("*.begun")]
    return "a" if left or lock_path(output).exists() else "w"


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
        claim_gpu()
    from iunet.training.support.environment import set_up_torch

    train = snakemake.config["train"]
    return set_up_torch(device, train["threads"], snakemake.threads, train["tf32"])


def _device(snakemake: Any) -> str:
    """cpu or cuda, by the job's network or learner."""
    wildcards = snakemake.wildcards
    name = wildcards.get("learner") or base_network(wildcards.network)
    return device_of(snakemake.config, name)


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
        claim_gpu()
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
        "id": snakemake.params.identity["own"]["id"],
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
    text = text or "".join(traceback.format_exception(kind, error, trace))
    logging.getLogger().critical(text)


def _by_hand(script: Path) -> Any:
    """A stand-in for Snakemake's object, for the rule that is named like the script."""
    parser = argparse.ArgumentParser(
        description=f"Run rule {script.stem} by hand, without Snakemake."
    )
    parser.add_argument("wildcards", nargs="*", metavar="WILDCARD=VALUE")
    parser.add_argument(
        "--configfile", action="append", default=[], help="overlay, as for snakemake"
    )
    arguments = parser.parse_args()
    return mock_snakemake(
        script.stem,
        dict(wildcard.split("=", 1) for wildcard in arguments.wildcards),
        [Path(path).resolve() for path in arguments.configfile],
    )


def mock_snakemake(rule: str, wildcards: dict[str, str], configfiles: list[Path] = ()) -> Any:
    """The object that a script of this rule would get; inputs must exist already.

    There is no public way to ask Snakemake for it: this is what its own executor does for a job.
    """
    from snakemake.api import Workflow  # isort: skip  (first: the modules import each other in a circle)
    from snakemake.dag import DAG
    from snakemake.iocontainers import Snakemake, Wildcards
    from snakemake.jobs import Job
    from snakemake.logging import LoggerManager, logger
    from snakemake.settings import types as settings

    workflow = Workflow(
        config_settings=settings.ConfigSettings(configfiles=configfiles),
        resource_settings=settings.ResourceSettings(cores=cores()),
        workflow_settings=settings.WorkflowSettings(),
        logger_manager=LoggerManager(logger, settings.OutputSettings()),
        storage_settings=settings.StorageSettings(),
        dag_settings=settings.DAGSettings(rerun_triggers=[]),
        storage_provider_settings={},
    )
    workflow.include(str(ROOT / "Snakefile"), overwrite_default_target=True)
    found = workflow.get_rule(rule)
    job = Job(found, DAG(workflow, rules=[found]), Wildcards(fromdict=wildcards))
    return Snakemake(
        job.input,
        job.output,
        job.params,
        job.wildcards,
        job.threads,
        job.resources,
        job.log,
        workflow.globals["config"],
        rule,
        None,
        str(ROOT / "workflow" / "scripts"),
    )


sys.excepthook = _report  # already for what a script imports after this module

# What jobs request from this machine, or from a scheduler.

import snakemake_logger_plugin_iunet
from snakemake.logging import logger

from iunet.machine.device import places_warning, unusable_gpu_warning
from iunet.machine.run_lock import refuse_unwritable
from iunet.machine.time_limit import mark_as_sent
from iunet.runs.costs import Costs

COSTS = Costs(BENCH)
NO_RETRY = Path(config["results"], paths.NO_RETRY)
if workflow.remote_exec:
    mark_as_sent()


resource_scopes:
    gpu="local",  # so many for each machine or submission, not for all of a cluster


def refuse_retry(attempt):
    """Stop before a job is sent again that failed by the config or the installation.

    Snakemake asks for the resources of every attempt, and has no other way to tell errors apart.
    """
    if attempt > 1 and NO_RETRY.exists():
        raise WorkflowError(f"Nothing is retried: {NO_RETRY.read_text(encoding='utf-8')}")


def job_resources(rule):
    """Memory, minutes and GPUs of a rule's jobs; the first two grow with the attempt."""

    def mem_mb(wildcards, attempt):
        refuse_retry(attempt)
        return COSTS.mem_mb(rule, wildcards, attempt)

    by_name = {"gres": lambda wildcards: COSTS.gres(rule, wildcards)} if COSTS.by_gres else {}
    return by_name | {
        "mem_mb": mem_mb,
        "runtime": lambda wildcards, attempt: COSTS.minutes(rule, wildcards, attempt),
        "gpu": lambda wildcards: COSTS.gpus(rule, wildcards),
        "gpu_mb": lambda wildcards: COSTS.gpu_mb(rule, wildcards),
    }


def job_group(rule):
    """Which jobs a scheduler gets as one; on one machine Snakemake ignores it."""
    return lambda wildcards: COSTS.group(rule, wildcards)


def learner_threads(wildcards):
    return settings.learner_threads(config, wildcards.learner)


def planned_hours(jobs):
    """For the terminal at the end of a dry run: what `make cost` says of these jobs."""
    from iunet.cost import Estimate  # with pandas

    return Estimate(BENCH, shown=SHOWN).hours_in_words(jobs)


snakemake_logger_plugin_iunet.hours_in_words = planned_hours


def check_before_start():
    """What would fail in every job, or surprise. A dry run does not ask."""
    with user_errors():
        refuse_unwritable(config["results"])
    NO_RETRY.unlink(missing_ok=True)
    warnings = (unusable_gpu_warning(config), places_warning(config, COSTS.largest_on_gpu()))
    for warning in warnings if workflow.local_exec else ():  # of this machine, where jobs run here
        if warning:
            logger.warning(warning)
    if "code" in map(str, workflow.rerun_triggers):
        logger.warning(
            "Snakemake's rerun trigger `code` is on: it compares the times of scripts, so a new "
            "checkout repeats every job. profiles/default leaves it out (docs/reruns.md)."
        )

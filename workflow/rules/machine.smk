# What jobs ask of the machine, and what is checked before anything starts.

import math
import os

from snakemake.logging import logger

from iunet.machine import allocation, cluster, fork_server, gpu_slot, resources
from iunet.machine.device import device_of, unusable_gpu_warning, visible_gpus
from iunet.machine.run_lock import refuse_unwritable
from iunet.runs import limits
from iunet.runs.costs import Costs

COSTS = Costs(BENCH)
AUTO_WORKERS = config["tuning"]["workers"] == "auto"
if workflow.is_main_process and (warning := unusable_gpu_warning(config)):
    logger.warning(warning)
if workflow.remote_exec:
    allocation.mark_as_sent()


def settle(scheduled):
    """Where jobs run: here, or with a scheduler. Studies have more workers there."""
    global RUNS_HERE
    RUNS_HERE = not scheduled
    if AUTO_WORKERS:
        config["tuning"]["workers"] = config["cluster"]["workers"] if scheduled else 1


# Only a scheduler needs a number of jobs (`nodes`), but `--cores 4 --jobs 8` gives one, too; so
# what jobs run with is asked again when Snakemake knows it (settle_machine).
settle(workflow.resource_settings.nodes is not None or workflow.remote_exec)


def runs_with_this_machine():
    """Whether the executor that was asked for runs jobs here.

    `-n` and `--touch` put another in its place. What is left of it is that jobs of a scheduler are
    watched by threads.
    """
    if workflow.remote_exec or not workflow.executor_plugin:  # none for pictures of the plan
        return False
    if workflow.dryrun or workflow.touch:
        asked = workflow.execution_settings
        return asked is not None and not asked.use_threads
    return workflow.executor_plugin.common_settings.local_exec


def share_gpus_of_groups():
    """A scheduler's group gets one GPU, which its jobs use one after the other.

    With several cores they would otherwise run side by side, and ask for a GPU each.
    """
    if "gpu" not in workflow.global_resources:
        workflow.resource_scopes["gpu"] = "local"  # so many for each submission, not for all
        workflow.register_resource("gpu", 1)


def settle_machine():
    """Before the plan is made: where jobs run, and what there is of this machine."""
    if runs_with_this_machine():
        settle(scheduled=False)
    if workflow.group_settings:
        COSTS.components = workflow.group_settings.group_components
    if not RUNS_HERE:
        share_gpus_of_groups()
        return
    if gpus := visible_gpus():
        # `--resources gpu=8` on two GPUs means four jobs on each, whatever the config says.
        per_gpu = config["jobs_per_gpu"]
        if "gpu" in workflow.global_resources:
            asked = workflow.global_resources["gpu"]
            per_gpu = max(per_gpu, math.ceil(getattr(asked, "value", asked) / gpus))
        else:
            workflow.register_resource("gpu", gpus * per_gpu)
        os.environ[gpu_slot.PER_GPU] = str(per_gpu)
    if (
        allocation.in_slurm_job() and workflow.resource_settings.cores
    ):  # an allocation of the user's
        if "mem_mb" not in workflow.global_resources:
            workflow.register_resource("mem_mb", allocation.memory_mb())
        if workflow.resource_settings.cores > allocation.cores():
            logger.warning(
                f"This Slurm job has {allocation.cores()} cores, so no more are used "
                f"(--cores {workflow.resource_settings.cores})."
            )
            workflow.register_resource("_cores", allocation.cores())


def job_resources(stage):
    """Memory and minutes of a rule's jobs. Both grow with the attempt, unless the job resumes."""
    return {
        "mem_mb": lambda wildcards, attempt: resources.asked_mem_mb(
            COSTS.of(stage, wildcards), attempt
        ),
        "runtime": lambda wildcards, attempt: COSTS.minutes(stage, wildcards, attempt),
    }


def training_gpus(wildcards):
    """1 if the job uses a GPU; an error where this machine is to train, but has none."""
    name = getattr(wildcards, "learner", None) or base_network(wildcards.network)
    if device_of(config, name) == "cpu":
        return 0  # so that jobs run side by side
    if RUNS_HERE and not visible_gpus():
        raise WorkflowError(cluster.no_gpu_message(config, name))
    return 1


def job_group(stage):
    """Which jobs a scheduler gets as one; without a scheduler there is nothing to group."""
    return lambda wildcards: None if RUNS_HERE else COSTS.group(stage, wildcards)


def start_fork_server():
    """Jobs fork from a process that has imported torch, instead of importing it each."""
    from snakemake.script import PythonScript

    server, client = fork_server.start(config["train"]["threads"])
    ordinary = PythonScript._execute_cmd

    def execute(script, command, lifeline=server.stdin, **values):
        if values.get("py_exec") == sys.executable:  # and no other environment's
            values["py_exec"] = client
        return ordinary(script, command, **values)

    PythonScript._execute_cmd = execute


def check_threads(cores):
    """Of those jobs only that will run: a table of data needs none."""
    training = [job for job in workflow.dag.needrun_jobs() if "gpu" in job.rule.resources]
    learners = {job.wildcards.get("learner") for job in training}
    limits.check_threads(config, cores, sorted(learners - {None}), trains=None in learners)


def check_limits():
    """What this machine cannot do; a dry run may be for another number of cores than it has."""
    if not RUNS_HERE:
        return
    try:
        check_threads(max(os.cpu_count(), workflow.resource_settings.cores or 1))
        jobs = ((job.rule.name, job.wildcards) for job in workflow.dag.needrun_jobs())
        for sentence in limits.check_sizes(jobs, COSTS, allocation.memory_mb()):
            logger.warning(sentence)
    except UserError as error:
        raise WorkflowError(str(error)) from None


def check_before_start():
    """What would fail only when the first job starts, or for ever in a queue, is said at once."""
    try:
        if RUNS_HERE:
            check_threads(workflow.resource_settings.cores)
        refuse_unwritable(
            str(path) for job in workflow.dag.needrun_jobs() for path in (*job.output, *job.log)
        )
    except UserError as error:
        raise WorkflowError(str(error)) from None
    for job in workflow.dag.needrun_jobs():
        if "gpu" in job.rule.resources:
            training_gpus(job.wildcards)
    if workflow.executor_plugin.name == "slurm":
        jobs = {job.rule.name: job for job in workflow.dag.needrun_jobs()}  # one of each rule
        sent = [job for job in jobs.values() if not job.is_local]
        partitions = {job.resources.get("slurm_partition") for job in sent} - {None}
        try:
            cluster.check_slurm(partitions, workflow.executor_settings.partition_config)
        except UserError as error:
            raise WorkflowError(str(error)) from None
    if RUNS_HERE and "cuda" not in COSTS.devices.values() and fork_server.asked():
        start_fork_server()

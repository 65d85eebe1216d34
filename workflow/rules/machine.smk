# What jobs ask of the machine, and what is checked before anything starts.

from iunet.machine import cluster, fork_server, resources
from iunet.machine.device import gpus_per_training_job, resolve_device, visible_gpus
from iunet.machine.run_lock import refuse_unwritable
from iunet.runs import limits
from iunet.runs.costs import Costs

DEVICE = resolve_device(config["device"])
TRAINING_GPUS = gpus_per_training_job(config["device"])
COSTS = Costs(BENCH, DEVICE)

# Where jobs run: here, or with a scheduler (then Snakemake has a number of jobs, `nodes`). Here, no
# more jobs at once may train on a GPU than there are GPUs; `--resources gpu=N` says otherwise.
RUNS_HERE = workflow.resource_settings.nodes is None
if RUNS_HERE and "gpu" not in workflow.global_resources and visible_gpus():
    workflow.register_resource("gpu", visible_gpus())
NO_GPU = cluster.no_gpu_message(config["device"])


def job_resources(stage):
    """Memory and minutes of a rule's jobs; both grow with the attempt."""
    return {
        "mem_mb": lambda wildcards, attempt: resources.asked_mem_mb(
            COSTS.of(stage, wildcards), attempt
        ),
        "runtime": lambda wildcards, attempt: resources.asked_minutes(
            COSTS.of(stage, wildcards), attempt
        ),
    }


def training_gpus(wildcards):
    """1 if training uses a GPU; an error where this machine is to train, but has none."""
    if not TRAINING_GPUS or not RUNS_HERE or visible_gpus():
        return TRAINING_GPUS
    raise WorkflowError(NO_GPU)


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
        for sentence in limits.check_sizes(jobs, COSTS, limits.memory_mb()):
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
    jobs = {job.rule.name: job for job in workflow.dag.needrun_jobs()}  # one of each rule
    if any("gpu" in job.rule.resources for job in jobs.values()):
        training_gpus(None)
    if workflow.executor_plugin.name == "slurm":
        sent = [job for job in jobs.values() if not job.is_local]
        partitions = {job.resources.get("slurm_partition") for job in sent} - {None}
        try:
            cluster.check_slurm(partitions, workflow.executor_settings.partition_config)
        except UserError as error:
            raise WorkflowError(str(error)) from None
    if RUNS_HERE and DEVICE == "cpu" and fork_server.asked():
        start_fork_server()

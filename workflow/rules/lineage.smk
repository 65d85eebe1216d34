# How rules find their inputs and parameters. iunet/runs/stages.py lists what the jobs read, and
# iunet/runs/lineage.py decides why a job runs again; docs/reruns.md explains both to users.

from types import SimpleNamespace

from iunet.runs import stages
from iunet.runs.targets import check_run
from iunet.verify import refuse_copied

LINEAGE = SHOWN.lineage
if "--touch" not in sys.argv:  # which accepts everything
    with user_errors():
        refuse_copied(LINEAGE)


def files(function):
    """An input function: the files that a function of iunet/runs/stages.py gives for the job."""

    def files_of_job(wildcards):
        point = {**wildcards}  # not `.items()`, which is slow
        with user_errors():
            check_run(BENCH, point)
            return function(BENCH, SimpleNamespace(**point))

    return files_of_job


def job_of(rule, wildcards):
    """A job as its lineage describes it."""
    with user_errors():
        return LINEAGE.job(rule, **wildcards)


def job_params(rule):
    """Parameters of a rule: versions of code, settings, a digest of all jobs before, and its identity.

    Snakemake compares all but `made_by`, which depends on input files. Each module of the rule's script
    is a parameter by itself, so that the reason of a rerun names it.
    """

    def parameter(name):
        return lambda wildcards: job_of(rule, wildcards).parameters[name]

    stage, script = LINEAGE.stages[rule], LINEAGE.code(rule)
    params = {line.split()[0]: line for line in script}
    if stage.module is not None:  # which the script imports by a name of the job's
        params["module"] = lambda wildcards: ", ".join(job_of(rule, wildcards).code[len(script) :])
    return (
        params
        | {name: parameter(name) for name in (*stage.settings, *stage.of_code)}
        | {
            "upstream": lambda wildcards: job_of(rule, wildcards).upstream,
            "made_by": lambda wildcards, input: {
                "own": job_of(rule, wildcards).identity,
                "inputs": LINEAGE.identities(map(str, input)),
            },
        }
    )

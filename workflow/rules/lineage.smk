# How rules find their inputs and parameters: what a job reads and is made from is in iunet/runs/stages.py,
# why it runs again follows in iunet/runs/lineage.py; docs/reruns.md is the user's side of it.

from types import SimpleNamespace

from iunet.runs import stages
from iunet.runs.targets import check_run
from iunet.verify import refuse_copied

LINEAGE = SHOWN.lineage
if "--touch" not in sys.argv:  # which takes everything as it is
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
    """Parameters of a rule: versions of code, settings, what stands before it, and who it is.

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

# How rules find their inputs and parameters. What a job reads is in iunet/runs/inputs.py, what it stands
# on, and so why it runs again, in iunet/runs/lineage.py; docs/reruns.md is the user's side of it.

from types import SimpleNamespace

from iunet.runs import inputs
from iunet.runs.targets import check_run
from iunet.verify import refuse_copied

LINEAGE = whole_lineage(SHOWN)
if "--touch" not in sys.argv:  # which takes everything as it is
    with user_errors():
        refuse_copied(LINEAGE)


def files(function):
    """An input function: the files that a function of iunet/runs/inputs.py gives for the job."""

    def files_of_job(wildcards):
        with user_errors():
            check_run(BENCH, dict(wildcards.items()))
            return function(BENCH, SimpleNamespace(**wildcards))

    return files_of_job


def job_of(rule, wildcards):
    """A job as its lineage describes it."""
    with user_errors():
        return LINEAGE.job(rule, **dict(wildcards.items()))


def code(rule):
    """Parameters of a rule: the versions of its script and of the modules that it imports."""
    own = LINEAGE.code_of_script(rule)
    if LINEAGE.stages[rule].module is None:
        return own
    return [*own, lambda wildcards: ", ".join(job_of(rule, wildcards).code[len(own) :])]


def job_params(rule):
    """Parameters of a rule: its settings, what stands before it, and who it and its inputs are.

    Snakemake compares all but the last, which depends on input files.
    """

    def parameter(name):
        return lambda wildcards: job_of(rule, wildcards).parameters[name]

    stage = LINEAGE.stages[rule]
    return {name: parameter(name) for name in (*stage.settings, *stage.of_code)} | {
        "upstream": lambda wildcards: job_of(rule, wildcards).upstream,
        "made_by": lambda wildcards, input: {
            "own": job_of(rule, wildcards).identity,
            "inputs": LINEAGE.identities(map(str, input)),
        },
    }

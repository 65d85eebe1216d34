"""Rule refit: a tuned learner, fitted on train and valid together."""

from _job import start

from iunet.baselines.refit import refit

job = start(globals())

refit(
    method=job.wildcards.learner,
    inputs=job.inputs,
    output=job.outputs,
    settings=job.params.settings,
    seed=int(job.wildcards.seed),
    run=job.run,
    machine=job.machine(),
    identity=job.identity(without=["study"]),  # its result counts, not its times
    checkpoint_s=job.checkpoint_s,
    parts=tuple(job.params.parts),
)

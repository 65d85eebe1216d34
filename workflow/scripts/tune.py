"""Rule tune: trials of a baseline's hyperparameters, one worker's share of a study."""

from pathlib import Path

from _job import start

from iunet.baselines.study import tune

job = start(globals())

tune(
    method=job.wildcards.learner,
    inputs=job.inputs,
    output=job.output,
    journal=str(Path(job.output).with_name("study.journal")),
    study_name=job.params.study,
    settings=job.params.settings,
    budget=job.params.budget,
    seed=job.params.seed,
    worker=int(job.wildcards.worker),
    machine=job.machine(),
)

"""Rule tune: trials of a baseline's hyperparameters, one worker's share of a study."""

from pathlib import Path

from _job import machine, start

from iunet.baselines.study import tune

snakemake = start(globals())
params = snakemake.params

tune(
    method=snakemake.wildcards.learner,
    inputs=dict(snakemake.input.items()),
    output=snakemake.output[0],
    journal=str(Path(snakemake.output[0]).with_name("study.journal")),
    study_name=params.study,
    settings=params.settings,
    budget=params.budget,
    seed=params.seed,
    worker=int(snakemake.wildcards.worker),
    machine=machine(snakemake),
)

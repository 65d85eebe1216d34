"""Rule study: the table of a study's trials, and the best of them."""

from pathlib import Path

from _job import start

from iunet.baselines.study import summarise_study

snakemake = start(globals())
params, wildcards = snakemake.params, snakemake.wildcards

summarise_study(
    facts={"dataset": wildcards.dataset, "method": wildcards.learner},
    journal=str(Path(snakemake.output.study).with_name("study.journal")),
    study_name=params.study,
    settings=params.settings,
    budget=params.budget,
    output=dict(snakemake.output.items()),
)

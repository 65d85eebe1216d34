"""Rule study: the table of a study's trials, and the best of them."""

from pathlib import Path

from _job import start

from iunet.baselines.study import summarise_study

job = start(globals())

summarise_study(
    facts={"dataset": job.wildcards.dataset, "method": job.wildcards.learner},
    journal=str(Path(job.output).with_name("study.journal")),
    study_name=job.params.study,
    settings=job.params.settings,
    budget=job.params.budget,
    output=job.outputs,
)

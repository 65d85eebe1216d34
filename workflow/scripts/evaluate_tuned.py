"""Rule evaluate_tuned: a tuned and refitted baseline on test data."""

from _job import machine, run_name, start

from iunet.evaluation.tuned import evaluate_tuned

snakemake = start(globals())

evaluate_tuned(
    method=snakemake.wildcards.learner,
    inputs=dict(snakemake.input.items()),
    output=snakemake.output[0],
    run=run_name(snakemake),
    settings=snakemake.params.settings,
    machine=machine(snakemake),
)

"""Rule refit: a tuned baseline, fitted on train and valid together."""

from _job import identity, machine, run_name, start

from iunet.baselines.tuning import refit

snakemake = start(globals())

refit(
    method=snakemake.wildcards.learner,
    inputs=dict(snakemake.input.items()),
    output=dict(snakemake.output.items()),
    run=run_name(snakemake),
    settings=snakemake.params.settings,
    seed=int(snakemake.wildcards.seed),
    machine=machine(snakemake),
    identity=identity(snakemake),
    checkpoint_s=snakemake.config["train"]["checkpoint_s"],
)

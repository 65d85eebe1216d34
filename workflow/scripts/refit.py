"""Rule refit: a tuned learner, fitted on train and valid together."""

from _job import checkpoint_s, identity, machine, run_name, start

from iunet.baselines.refit import refit

snakemake = start(globals())

refit(
    method=snakemake.wildcards.learner,
    inputs=dict(snakemake.input.items()),
    output=dict(snakemake.output.items()),
    settings=snakemake.params.settings,
    seed=int(snakemake.wildcards.seed),
    run=run_name(snakemake),
    machine=machine(snakemake),
    identity=identity(snakemake, without=["study"]),  # its result counts, not its times
    checkpoint_s=checkpoint_s(snakemake),
    parts=tuple(snakemake.params.parts),
)

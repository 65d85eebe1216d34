"""Rule refit: a tuned learner, fitted on train and valid together."""

from _job import checkpoint_s, identity, machine, run_name, start

from iunet.baselines.tuning import RefitJob, refit

snakemake = start(globals())

refit(
    method=snakemake.wildcards.learner,
    inputs=dict(snakemake.input.items()),
    output=dict(snakemake.output.items()),
    settings=snakemake.params.settings,
    seed=int(snakemake.wildcards.seed),
    job=RefitJob(
        run_name(snakemake),
        machine(snakemake),
        # Of the study its result counts: the file also holds times, which differ.
        identity(snakemake, without=["study"]),
        checkpoint_s(snakemake),
        tuple(snakemake.params.parts),
    ),
)

"""Rule supernet: a supernet trained from κ · θ†."""

from _job import start, training_job

from iunet.training.supernet import SupernetSettings, train_supernet

snakemake = start(globals())
params = snakemake.params

train_supernet(
    inputs=dict(snakemake.input.items()),
    output=dict(snakemake.output.items()),
    settings=SupernetSettings(**params.settings),
    augment=params.augment,
    job=training_job(snakemake),
)

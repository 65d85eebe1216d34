"""Rule supernet: a supernet trained from κ · θ†."""

from _job import identity, run_name, start, torch_device

from iunet.training.supernet import SupernetSettings, train_supernet

snakemake = start(globals())
params = snakemake.params

train_supernet(
    inputs=dict(snakemake.input.items()),
    output=dict(snakemake.output.items()),
    run=run_name(snakemake),
    settings=SupernetSettings(**params.settings),
    augment=params.augment,
    device=torch_device(snakemake),
    identity=identity(snakemake),
    checkpoint_s=snakemake.config["train"]["checkpoint_s"],
)

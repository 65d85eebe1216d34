"""Rule finetune: a subnetwork trained from mask ⊙ θ†."""

from _job import identity, run_name, start, torch_device

from iunet.training.finetune import FinetuneSettings, finetune

snakemake = start(globals())
params = snakemake.params

finetune(
    inputs=dict(snakemake.input.items()),
    output=dict(snakemake.output.items()),
    run=run_name(snakemake),
    settings=FinetuneSettings(**params.settings),
    device=torch_device(snakemake),
    identity=identity(snakemake),
    checkpoint_s=snakemake.config["train"]["checkpoint_s"],
)

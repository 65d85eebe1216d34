"""Rule finetune: a subnetwork trained from mask ⊙ θ†."""

from _job import start, training_job

from iunet.training.finetune import FinetuneSettings, finetune

snakemake = start(globals())

finetune(
    inputs=dict(snakemake.input.items()),
    output=dict(snakemake.output.items()),
    settings=FinetuneSettings(**snakemake.params.settings),
    job=training_job(snakemake),
)

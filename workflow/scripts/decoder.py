"""Rule decoder: a supernet's decoder, trained on its frozen encoder by the fine-tune recipe."""

from _job import start, training_job

from iunet.training.decoder import train_decoder
from iunet.training.finetune import FinetuneSettings

snakemake = start(globals())

train_decoder(
    inputs=dict(snakemake.input.items()),
    output=dict(snakemake.output.items()),
    settings=FinetuneSettings(**snakemake.params.settings),
    job=training_job(snakemake),
)

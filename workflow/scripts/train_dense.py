"""Rule train_dense: the whole network, trained by the fine-tune recipe without a mask."""

from _job import start, training_job

from iunet.training.finetune import FinetuneSettings, finetune

snakemake = start(globals())

finetune(
    inputs=dict(snakemake.input.items()),
    output=dict(snakemake.output.items()),
    settings=FinetuneSettings(**snakemake.params.settings),
    job=training_job(snakemake),
)

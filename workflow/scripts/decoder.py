"""Rule decoder: a supernet's decoder, trained on its frozen encoder by the fine-tune recipe."""

from _job import start

from iunet.training.decoder import train_decoder
from iunet.training.finetune import FinetuneSettings

job = start(globals())
settings = FinetuneSettings(**job.params.settings)
train_decoder(job.inputs, job.outputs, settings, job.training())

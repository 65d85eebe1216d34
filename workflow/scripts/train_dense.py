"""Rule train_dense: the whole network, trained by the fine-tune recipe without a mask."""

from _job import start

from iunet.training.finetune import FinetuneSettings, finetune

job = start(globals())
finetune(job.inputs, job.outputs, FinetuneSettings(**job.params.settings), job.training())

"""Rules finetune and train_dense: a subnetwork trained from mask ⊙ θ†, or a whole network."""

from _job import start

from iunet.training.finetune import FinetuneSettings, finetune

job = start(globals())
finetune(job.inputs, job.outputs, FinetuneSettings(**job.params.settings), job.training())

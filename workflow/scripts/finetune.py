"""Rule finetune: a subnetwork trained from mask ⊙ θ†."""

from _job import start

from iunet.training.finetune import FinetuneSettings, finetune

job = start(globals())
finetune(job.inputs, job.outputs, FinetuneSettings(**job.params.settings), job.training())

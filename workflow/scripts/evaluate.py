"""Rule evaluate: a fine-tuned subnetwork, on validation and test data."""

from _job import start

from iunet.evaluation.evaluate import evaluate_subnetwork

job = start(globals())
evaluate_subnetwork(job.inputs, job.output, job.run, job.params.augment, job.torch_device())

"""Rule evaluate_supernet: a supernet without pruning, on validation and test data."""

from _job import start

from iunet.evaluation.evaluate import evaluate_supernet

job = start(globals())
evaluate_supernet(job.inputs, job.output, job.run, job.params.augment, job.torch_device())

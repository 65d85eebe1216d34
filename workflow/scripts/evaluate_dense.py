"""Rule evaluate_dense: a network without pruning, on validation and test data."""

from _job import start

from iunet.evaluation.evaluate import evaluate_dense

job = start(globals())
evaluate_dense(job.inputs, job.output, job.run, job.params.augment, job.torch_device())

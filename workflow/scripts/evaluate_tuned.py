"""Rule evaluate_tuned: a tuned and refitted baseline on test data."""

from _job import start

from iunet.evaluation.tuned import evaluate_tuned

job = start(globals())
learner, settings = job.wildcards.learner, job.params.settings
evaluate_tuned(learner, job.inputs, job.output, job.run, settings, job.machine())

"""Rule prune: the mask of a supernet at one compression ratio, or of what β-LASSO left."""

from _job import start

from iunet.method.pruning import Cut, prune_supernet

job = start(globals())
prune_supernet(job.inputs, job.outputs, job.run, Cut(**job.params.cut))

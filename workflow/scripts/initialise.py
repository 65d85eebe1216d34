"""Rule initialise: the initial weights θ† of a network."""

from _job import start

from iunet.training.initial import write_initial

job = start(globals())
network, init, seed = job.params.network, job.params.init, int(job.wildcards.seed)
write_initial(job.inputs["split"], job.outputs, network, init, seed)

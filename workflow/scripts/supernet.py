"""Rule supernet: a supernet trained from κ · θ†."""

from _job import start

from iunet.training.supernet import SupernetSettings, train_supernet

job = start(globals())
settings, augment = SupernetSettings(**job.params.settings), job.params.augment
train_supernet(job.inputs, job.outputs, settings, augment, job.training())

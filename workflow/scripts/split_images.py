"""Rule split_images: train, valid and test of an image set, and the channels' mean and std."""

from _job import start

from iunet.data.split import split_images

job = start(globals())
data, description = job.inputs["data"], job.inputs["description"]
split_images(data, description, job.outputs, **job.params.settings)

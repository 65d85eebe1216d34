"""Rules split_table and split_images: train, valid and test, and what is fitted on train."""

from _job import start

from iunet.data.split import split_images, split_table

job = start(globals())
data, description = job.inputs["data"], job.inputs["description"]
split = split_table if data.endswith(".parquet") else split_images
split(data, description, job.outputs, **job.params.settings)

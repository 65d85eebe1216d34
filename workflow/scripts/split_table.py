"""Rule split_table: train, valid and test of a table, and the preprocessing fitted on train."""

from _job import start

from iunet.data.split import split_table

job = start(globals())
data, description = job.inputs["data"], job.inputs["description"]
split_table(data, description, job.outputs, **job.params.settings)

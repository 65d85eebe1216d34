"""Rule table: a table in all its forms."""

from _job import start

from iunet.tables.make import make_table

job = start(globals())
make_table(job.benchmark(), job.wildcards.table, job.outputs)

"""Rule table: a table in all its forms."""

from _job import benchmark, start

from iunet.tables.make import make_table

snakemake = start(globals())

make_table(benchmark(snakemake), snakemake.wildcards.table, dict(snakemake.output.items()))

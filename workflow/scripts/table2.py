"""Rule table2: the methods over all tabular data sets, from table 7."""

from _job import start

from iunet.tables.rankings import make_table2

snakemake = start(globals())

make_table2(snakemake.input.table7, snakemake.params.about, dict(snakemake.output.items()))

"""Rule ranking: average ranks and the significance of their differences, from table 7."""

from _job import start

from iunet.tables.rankings import make_ranking

snakemake = start(globals())

make_ranking(snakemake.input.table7, snakemake.params.about, dict(snakemake.output.items()))

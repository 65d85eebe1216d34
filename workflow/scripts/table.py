"""Rule table: one of the tables that are made of runs."""

from _job import start

from iunet.tables.make import make_table

snakemake = start(globals())
params = snakemake.params

make_table(
    name=snakemake.wildcards.table,
    requests=params.requests,
    more=params.more,
    about=params.about,
    splits=snakemake.input.splits,
    output=dict(snakemake.output.items()),
)

"""Rule table: a table in all its forms."""

from _job import start

from iunet.tables.ask import Ask
from iunet.tables.make import make_table

snakemake = start(globals())
params = snakemake.params

make_table(
    name=snakemake.wildcards.table,
    ask=Ask(**params.ask),
    about=params.about,
    splits=snakemake.input.splits,
    output=dict(snakemake.output.items()),
)

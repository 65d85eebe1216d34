"""Rule figure: a figure as PNG and PDF, and the data behind it."""

from _job import start

from iunet.figures.make import make_figure

snakemake = start(globals())

make_figure(
    name=snakemake.wildcards.figure,
    ask=snakemake.params.ask,
    output=dict(snakemake.output.items()),
)

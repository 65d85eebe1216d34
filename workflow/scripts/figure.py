"""Rule figure: a figure as PNG and PDF, and the data behind it."""

from _job import benchmark, start

from iunet.figures.make import make_figure

snakemake = start(globals())

make_figure(snakemake.wildcards.figure, benchmark(snakemake), dict(snakemake.output.items()))

"""Rule figure2: validation accuracy against compression."""

from _job import start

from iunet.figures.figure2 import write_figure2

snakemake = start(globals())

write_figure2(snakemake.params.requests, dict(snakemake.output.items()))

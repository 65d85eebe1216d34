"""Rule figure3: magnitudes of weights during training."""

from _job import start

from iunet.figures.figure3 import write_figure3

snakemake = start(globals())

write_figure3(snakemake.params.requests, dict(snakemake.output.items()))

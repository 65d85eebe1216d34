"""Rule figure4: first-layer weights after training."""

from _job import start

from iunet.figures.figure4 import write_figure4

snakemake = start(globals())
params = snakemake.params

write_figure4(params.images, params.tables, dict(snakemake.output.items()))

"""Rule figure: a figure as PNG and PDF, and the data behind it."""

from _job import start

from iunet.figures.catalog import declared_figures
from iunet.figures.make import make_figure
from iunet.runs.validate import validate
from iunet.tables.catalog import declared_tables

snakemake = start(globals())

make_figure(
    name=snakemake.wildcards.figure,
    bench=validate(snakemake.config, declared_tables() | declared_figures()),
    output=dict(snakemake.output.items()),
)

"""Rule figure: a figure as PNG and PDF, and the data behind it."""

from _job import start

from iunet.figures.make import make_figure

job = start(globals())
make_figure(job.wildcards.figure, job.benchmark(), job.outputs)

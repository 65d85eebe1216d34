"""Rule metric_problem: which cells of the paper's table 7 equal a majority rate."""

from _job import start

from iunet.tables.metric_problem import metric_problem_document
from iunet.tables.render.forms import write_table

snakemake = start(globals())

write_table(metric_problem_document(), dict(snakemake.output.items()))

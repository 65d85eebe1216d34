"""Rule tuning_history: the trials of the tuned methods on one data set."""

from _job import start

from iunet.figures.tuning_history import write_tuning_history

snakemake = start(globals())

write_tuning_history(snakemake.params.requests, dict(snakemake.output.items()))

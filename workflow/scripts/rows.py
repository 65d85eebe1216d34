"""Rule rows: every run as a row of runs.csv."""

from _job import start

from iunet.study.rows import write_rows

snakemake = start(globals())

write_rows(snakemake.params.requests, snakemake.output[0])

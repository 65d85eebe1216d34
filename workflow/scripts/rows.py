"""Rule rows: every run as a row of runs.csv."""

from _job import benchmark, start

from iunet.results.collect import records
from iunet.results.request import every_run
from iunet.results.runs_csv import write_runs_csv

snakemake = start(globals())
bench = benchmark(snakemake)

write_runs_csv(records(bench, every_run(bench)), snakemake.output[0])

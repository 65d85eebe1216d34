"""Rule rows: every run as a row of runs.csv."""

from _job import start

from iunet.results.collect import records
from iunet.results.request import every_run
from iunet.results.runs_csv import write_runs_csv

job = start(globals())
bench = job.benchmark()
write_runs_csv(records(bench, every_run(bench)), job.output)

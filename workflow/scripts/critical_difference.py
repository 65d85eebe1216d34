"""Rule critical_difference: the diagram of the methods' ranks."""

from _job import start

from iunet.artifacts import read_json
from iunet.figures.critical_difference import write_critical_difference

snakemake = start(globals())
ranking = read_json(snakemake.input[0])

write_critical_difference(
    ranking["ranks"],
    ranking["p_values"] or {},
    dict(snakemake.output.items()),
    n_datasets=ranking["n_datasets"],
    metric="balanced accuracy",
    not_enough=ranking["problem"],
)

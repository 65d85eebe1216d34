"""Rule table8: statistics of the vision data sets, beside the paper's."""

from _job import start

from iunet.tables.data_statistics import write_table8

snakemake = start(globals())

write_table8(
    split_files=snakemake.input.splits,
    output=dict(snakemake.output.items()),
    datasets=snakemake.params.datasets,
    missing=snakemake.params.missing,
)

"""Rule split_table: train, valid and test of a table, and the preprocessing fitted on train."""

from _job import start

from iunet.data.split import split_table

snakemake = start(globals())

split_table(
    data_path=snakemake.input.data,
    json_path=snakemake.input.description,
    output=dict(snakemake.output.items()),
    **snakemake.params.settings,
)

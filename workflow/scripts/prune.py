"""Rule prune: the mask of a supernet at one compression ratio, or of what β-LASSO left."""

from _job import run_name, start

from iunet.method.pruning import Cut, prune_supernet

snakemake = start(globals())

prune_supernet(
    inputs=dict(snakemake.input.items()),
    output=dict(snakemake.output.items()),
    run=run_name(snakemake),
    cut=Cut(**snakemake.params.cut),
)

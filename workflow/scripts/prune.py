"""Rule prune: the mask of a supernet at one compression ratio, or of what β-LASSO left."""

from _job import run_name, start

from iunet.method.pruning import prune_supernet

snakemake = start(globals())

prune_supernet(
    supernet=snakemake.input.supernet,
    supernet_report=snakemake.input.supernet_report,
    initial=snakemake.input.initial,
    description=snakemake.input.description,
    ratio=snakemake.params.ratio,
    run=run_name(snakemake),
    output=dict(snakemake.output.items()),
)

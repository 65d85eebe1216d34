"""Rule prune: the mask of a supernet at one compression ratio."""

from _job import run_name, start

from iunet.pruning import prune_supernet

snakemake = start(globals())

prune_supernet(
    supernet=snakemake.input.supernet,
    initial=snakemake.input.initial,
    description=snakemake.input.description,
    ratio=float(snakemake.wildcards.ratio),
    run=run_name(snakemake),
    output=dict(snakemake.output.items()),
)

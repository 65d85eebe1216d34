"""Rule select_ratio: the compression ratio with the best validation score."""

from itertools import product

from _job import run_name, start

from iunet.selection import select_ratio

snakemake = start(globals())
points = product(snakemake.params.ratios, snakemake.params.seeds)

select_ratio(
    reports=[
        {"name": name, "seed": seed, "path": path}
        for (name, seed), path in zip(points, snakemake.input, strict=True)
    ],
    metric=snakemake.params.metric,
    run=run_name(snakemake),
    output=snakemake.output[0],
)

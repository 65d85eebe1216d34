"""Rule initialise: the initial weights θ† of a network."""

from _job import start

from iunet.training.initial import write_initial

snakemake = start(globals())

write_initial(
    split_path=snakemake.input.split,
    output=dict(snakemake.output.items()),
    network=snakemake.params.network,
    init=snakemake.params.init,
    seed=int(snakemake.wildcards.seed),
)

"""Rule split_images: train, valid and test of an image set, and the channels' mean and std."""

from _job import start

from iunet.data.split import split_images

snakemake = start(globals())

split_images(
    data_path=snakemake.input.data,
    json_path=snakemake.input.description,
    output=dict(snakemake.output.items()),
    **snakemake.params.settings,
)

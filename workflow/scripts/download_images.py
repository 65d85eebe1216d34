"""Rule download_images: one image set as safetensors and JSON."""

from _job import start

from iunet.data.download import download
from iunet.data.registry import Dataset
from iunet.data.sources import source_settings

snakemake = start(globals())

download(
    Dataset(**snakemake.params.row, declared_at=snakemake.params.declared_at),
    source_settings(snakemake.config["data"]),
    data_path=snakemake.output.data,
    json_path=snakemake.output.description,
)

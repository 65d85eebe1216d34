"""Rules download_table and download_images: one data set, and its description as JSON."""

from _job import start

from iunet.data.download import download
from iunet.data.registry import Dataset
from iunet.data.sources import source_settings

job = start(globals())
dataset = Dataset(**job.params.row, declared_at=job.params.declared_at)
settings = source_settings(job.config["data"])
download(dataset, settings, job.outputs["data"], job.outputs["description"])

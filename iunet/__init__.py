"""The science of iunet-bench: everything the workflow's scripts call, and nothing of Snakemake."""

__version__ = "0.1.0"

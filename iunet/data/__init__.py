"""Data: the registry, the sources, the download and split stages."""

"""The space of runs: names, paths, methods, settings, and the dependencies between jobs.

Imported at every start of Snakemake, so it uses the standard library only.
"""

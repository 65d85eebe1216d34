"""The space of runs: names, paths, methods, settings, and what tables and figures ask of it.

Imported at every start of Snakemake, so it uses the standard library only.
"""

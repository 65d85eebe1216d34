"""Results of runs as tidy frames: what tables, figures, ledger, page and study are made of.

`request` says which runs are asked for and which files tell of them, `collect` reads these files
(or a runs.csv) into frames, `selection` picks from the frames what a table shows.
"""

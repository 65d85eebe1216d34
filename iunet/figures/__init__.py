"""The figures: one module each, from results to PDF, PNG and the data behind it as CSV.

Every module has a function `make(bench, name)`, which gives a matplotlib figure and the tidy rows
that it is drawn from; these become the CSV. A new figure is a module and an entry of the catalog.
"""

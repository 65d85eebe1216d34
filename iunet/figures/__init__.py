"""The figures: one module each, from results to PDF, PNG and the data behind it as CSV.

Every module has two functions: `rows(bench, name)` gives the tidy rows of the CSV, and `draw(rows)`
the matplotlib figure. A new figure is a module and an entry of the catalog.
"""

"""The figures: one module each, from the runs' artifacts to PDF, PNG and the data as CSV.

Every module has the same three steps: *rows* reads and checks the artifacts and gives tidy rows,
*draw* makes a matplotlib figure of the rows alone, and *write* does both and writes the files. So
the CSV holds what is drawn, and a test can look at the axes. (`scores` and `densities` are given
their rows.)
"""

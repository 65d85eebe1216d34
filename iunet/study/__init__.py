"""Results that are published: every run as a row of runs.csv, and the tables made again from it."""

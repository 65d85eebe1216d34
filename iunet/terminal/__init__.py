"""What a person sees while the workflow runs."""

# In the environment of jobs: Snakemake's terminal shows the end of a failed job's log.
SHOWS_FAILURES = "IUNET_TERMINAL_SHOWS_FAILURES"

"""The threads of a job are those that its config asks for, or an error."""

from __future__ import annotations

from iunet.errors import UserError


def check_threads(key: str, wanted: int, granted: int) -> None:
    """Fewer than asked for is an error: torch's sums would be others, and a study slower."""
    if granted < wanted:
        raise UserError(
            f"The config key '{key}' is {wanted}, but this job was given {granted}: call snakemake "
            f"with --cores {wanted} or more (the slurm profile has a line 'cores'), or lower the "
            "key."
        )

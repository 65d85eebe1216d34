"""What a table asks for, and where it stands on the page."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from iunet.provenance import digest
from iunet.runs.entries import Cell
from iunet.runs.requests import Requests, files_of

PAPER, SEARCHES, BEYOND = "paper", "searches", "beyond"  # the groups of the page
OWN = "own"  # experiments of the user's
EVIDENCE = "evidence"  # of what is wrong in the paper
CLAIMS = "claims"  # the ledger, with which the page begins


@dataclass
class Ask:
    """What a table is made of; made from the config alone, without reading a file."""

    cells: list[Cell] = field(default_factory=list)  # of which budgets and stand-ins are told
    requests: Requests = field(default_factory=list)  # what of the runs (iunet/runs/requests.py)
    files: list[str] = field(default_factory=list)  # other artifacts that it reads
    more: dict[str, Any] = field(default_factory=dict)  # plain values beside them

    def inputs(self) -> list[str]:
        """Every file that the table reads."""
        asked = [*self.requests, *self.more.get("fixed", [])]
        return list(dict.fromkeys([*files_of(asked), *self.files]))

    def plain(self) -> dict[str, Any]:
        """For the job, as plain values."""
        return {"requests": self.requests, "files": self.files, "more": self.more}

    def digest(self) -> str:
        return digest(self.plain())

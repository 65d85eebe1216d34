"""The trials of a study, read and checked."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Any

from iunet.errors import UserError, one_line
from iunet.results.reports import REDO

COLUMNS = ("number", "state", "score", "seconds", "reason", "flags")


def read_trials(path: str | Path) -> list[dict[str, Any]]:
    """The trials of a study by number, their states and scores checked."""
    if not Path(path).exists():
        raise UserError(
            f"{path} does not exist: run the stage of the workflow that makes it first."
        )
    try:
        with Path(path).open(encoding="utf-8", newline="") as file:
            lines = list(csv.DictReader(file, strict=True))
    except (OSError, ValueError, csv.Error) as error:
        raise _refused(path, f"cannot be read as CSV ({one_line(error)})") from error
    if not lines:
        raise _refused(path, "has no trials")
    trials: dict[int, dict[str, Any]] = {}
    for line in lines:
        trial = _trial(path, line)
        if trial["number"] in trials:
            raise _refused(path, f"has the trial {trial['number']} twice")
        trials[trial["number"]] = trial
    return [trials[number] for number in sorted(trials)]


def _trial(path: str | Path, line: dict[str, str]) -> dict[str, Any]:
    # A line that is too short or too long has None as a value or a key.
    if lacking := [name for name in COLUMNS if line.get(name) is None]:
        raise _refused(path, f"lacks {', '.join(lacking)} in a line")
    if None in line or not line["number"].isdecimal():
        raise _refused(path, f"has a line that is not a trial, with the number {line['number']!r}")
    name = f"trial {line['number']}"
    if line["state"] not in ("complete", "failed"):
        raise _refused(path, f"has the state {line['state']!r} in {name}")
    complete = line["state"] == "complete"
    return {
        "number": int(line["number"]),
        "state": line["state"],
        "score": _number(path, f"the score of {name}", line["score"]) if complete else None,
        "seconds": _number(path, f"the seconds of {name}", line["seconds"])
        if complete or line["seconds"]
        else None,
        "reason": line["reason"] or None,
        "flags": line["flags"] or None,
    }


def _number(path: str | Path, name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise _refused(path, f"has {text!r} as {name}, which is not a number") from None
    if not math.isfinite(value):
        raise _refused(path, f"has {text!r} as {name}, which is not a finite number")
    return value


def _refused(path: str | Path, problem: str) -> UserError:
    return UserError(f"{path} {problem}. {REDO}")

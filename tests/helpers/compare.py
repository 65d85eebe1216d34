"""The results of two runs, compared but for what may differ: times and machines."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

# What may differ between equal runs; `trials_made` is of the last job of a study that was cut.
TIMES = ("times", "environment", "seconds", "fit_seconds", "trials_made")
NO_RESULT = (".journal", ".lock", ".begun")


def results_but_times(root: Path) -> dict[str, Any]:
    """Every artifact but logs, benchmarks and journals; of JSON and trials all but times."""
    found: dict[str, Any] = {}
    for path in sorted(root.rglob("*")):
        name = str(path.relative_to(root))
        if path.is_dir() or name.startswith(("logs/", "benchmarks/")) or path.suffix in NO_RESULT:
            continue
        if path.suffix == ".json":
            content = json.loads(path.read_text())
            for checksum in ("content", "files", "seal"):  # of times, too
                content["made_by"].pop(checksum, None)
            found[name] = {k: v for k, v in content.items() if k not in TIMES}
        elif path.name == "trials.csv":
            rows = csv.DictReader(path.read_text().splitlines())
            found[name] = [{k: v for k, v in row.items() if k not in TIMES} for row in rows]
        else:
            found[name] = path.read_bytes()
    return found


def different_results(ours: dict[str, Any], theirs: dict[str, Any]) -> list[str]:
    """The names of artifacts that only one has, or that differ."""
    return sorted(n for n in {*ours, *theirs} if ours.get(n) != theirs.get(n))

"""Artifact provenance: what an artifact says of itself, and what its reader expects of it.

Every job has an identity: its rule, its wildcards (the coordinates of the run), its settings, and a
digest of the identities of the jobs before it (iunet/runs/lineage.py). Every artifact of the job
carries it under `made_by`, with the versions of the code that made it and all before it:

    {"file": "supernet.safetensors", "rule": "supernet", "wildcards": {…}, "settings": {…},
     "inputs": "5d0c…", "id": "90ab…", "code": {"iunet.training.loop": ["45439a88"], …}}

A reader compares the identity, and refuses an artifact of a different run by name. Versions of code
are no reason to refuse: an edit that was accepted (docs/reruns.md) stays accepted, but tables note
it.
Standard library only.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from iunet.errors import UserError

Identity = dict[str, Any]
Code = dict[str, list[str]]  # versions by module: one, unless the inputs were made by several
SHOWN = 4  # differences in an error


def digest(*parts: Any) -> str:
    """Twelve hex digits for plain values (numbers, text, lists, dictionaries)."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:12]


def identity(
    rule: str, wildcards: dict[str, str], settings: dict[str, Any], inputs: Iterable[str]
) -> Identity:
    """The identity of a job; `inputs` are the ids of the jobs before it."""
    content = {
        "rule": rule,
        "wildcards": dict(wildcards),
        "settings": settings,
        "inputs": digest(sorted(inputs)),
    }
    return {**content, "id": digest(content)}


def refuse_foreign(path: str | Path, expected: Identity, found: Any) -> None:
    """An error that names the file, what was expected and what was found, if they differ."""
    again = "Delete it and run the same command again to rebuild it."
    if not isinstance(found, dict) or "id" not in found:
        raise UserError(
            f"{path} does not say which run it belongs to: either this workflow did not make it, "
            f"or it is damaged. {again}"
        )
    if found.get("file") != Path(path).name:
        raise UserError(
            f"{path} is a copy of another file: it was written as '{found.get('file')}'. {again}"
        )
    if found["id"] == expected["id"]:
        return
    differences = list(_differences(expected, found))
    told = "; ".join(differences[:SHOWN])
    told += f"; and {len(differences) - SHOWN} more" if len(differences) > SHOWN else ""
    raise UserError(
        f"{path} belongs to a different run: {told or 'it was made from other inputs'}. {again}"
    )


def _differences(expected: Identity, found: Identity) -> Iterable[str]:
    for key in ("rule", "wildcards", "settings"):
        wanted, there = flat({key: expected.get(key)}), flat({key: found.get(key)})
        for name in sorted({*wanted, *there}):
            if wanted.get(name) != there.get(name):
                label = name.removeprefix("wildcards.").removeprefix("settings.")
                yield (
                    f"{label}: expected {_text(wanted.get(name))}, found {_text(there.get(name))}"
                )


def flat(value: Any, prefix: str = "") -> dict[str, Any]:
    """Nested settings as one dictionary, with keys such as `wildcards.seed`."""
    if not isinstance(value, dict):
        return {prefix: value}
    parts = (flat(v, f"{prefix}.{k}" if prefix else str(k)) for k, v in value.items())
    return {name: entry for part in parts for name, entry in part.items()}


def _text(value: Any) -> str:
    text = "nothing" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:79]}…"


def joined_code(*parts: Code) -> Code:
    """All versions of all modules."""
    found: dict[str, set[str]] = {}
    for part in parts:
        for module, versions in part.items():
            found.setdefault(module, set()).update(versions)
    return {module: sorted(found[module]) for module in sorted(found)}


def older_modules(code: Code, now: dict[str, str]) -> list[str]:
    """Modules that made something and have changed since."""
    return [m for m, versions in code.items() if m in now and versions != [now[m]]]

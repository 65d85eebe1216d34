"""Results that another config made: found by the ids that artifacts carry.

    iunet verify results/ [--configfile config/demo.yaml]

Snakemake takes files that it has no record of, in a copied folder, for up to date, whatever they
were made with. Here every JSON and safetensors file is compared with what the config would make.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from iunet.artifacts import SIGNED, give_identity, read_provenance
from iunet.errors import UserError
from iunet.provenance import flat, refuse_foreign
from iunet.runs import paths
from iunet.runs.lineage import Lineage

RECORDS = Path(".snakemake/metadata")


def foreign_files(lineage: Lineage, folder: str | Path) -> Iterator[str]:
    """What is wrong with each file that the config would not make; one paragraph for each."""
    for path in artifacts_in(folder):
        try:
            if made := lineage.maker(path.as_posix()):
                refuse_foreign(path, made.identity, read_provenance(path))
        except UserError as error:
            yield str(error)


def artifacts_in(folder: str | Path) -> Iterator[Path]:
    """Every file of a folder of results that carries its provenance."""
    for part in sorted(paths.FOLDERS):
        for path in sorted((Path(folder) / part).rglob("*")):
            if path.suffix in SIGNED and path.is_file():
                yield path


def refuse_copied(lineage: Lineage) -> None:
    """Refuse results of another config where Snakemake has no record of any job."""
    if RECORDS.is_dir() and any(RECORDS.iterdir()):
        return
    if problems := list(foreign_files(lineage, lineage.bench.root)):
        named = [problem for problem in problems if "expected" in problem]  # a setting of its own
        root = lineage.bench.root
        raise UserError(
            f"{(named or problems)[0]} (Snakemake has no record of this file, so it was copied "
            f"here. `iunet verify {root}` lists all such files; docs/reruns.md says how to accept "
            "them.)"
        )


def adopt(lineage: Lineage, folder: str | Path) -> int:
    """Give artifacts of older versions the ids of today, if their settings are the config's.

    Ids of artifacts depend on how lineage is described. Published reports outlive that.
    """
    adopted = 0
    for path in artifacts_in(folder):
        made, found = lineage.maker(path.as_posix()), read_provenance(path)
        if made and found and found["id"] != made.id and _same_settings(found, made.identity):
            give_identity(path, made.identity)
            adopted += 1
    return adopted


def _same_settings(found: dict[str, Any], wanted: dict[str, Any]) -> bool:
    """Equal where both say something: an older version may name what is off, or not know it."""
    if (found.get("rule"), found.get("wildcards")) != (wanted["rule"], wanted["wildcards"]):
        return False
    then, now = flat(found["settings"]), flat(wanted["settings"])
    return all(now.get(key, value) == value for key, value in then.items())


def verify(folder: str, overlays: list[str], changes: list[str]) -> list[str]:
    """Every file of a folder that a config would not make, with the reason."""
    from iunet.runs.overlays import merged_config
    from iunet.shown import Shown, benchmark

    if not Path(folder).is_dir():
        raise UserError(f"The folder {folder} does not exist.")
    lineage = Shown(benchmark(merged_config(overlays, changes))).lineage
    return list(foreign_files(lineage, folder))

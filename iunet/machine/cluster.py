"""A check of a Slurm profile, before any job is sent.

python -m iunet.machine.cluster profiles/slurm
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from iunet.errors import UserError, nearest

PROFILE = "profiles/slurm"


def check_slurm(asked: Iterable[str], partition_file: str | Path | None) -> None:
    """Slurm is there, answers, and has every partition that the profile names."""
    if shutil.which("sbatch") is None or shutil.which("sinfo") is None:
        raise UserError(
            "The profile sends jobs to Slurm, but this machine has no sbatch. Start Snakemake on "
            "the cluster's login node, or without the profile to run the jobs here."
        )
    answer = subprocess.run(
        ["sinfo", "--noheader", "--format=%R"], capture_output=True, text=True, timeout=60
    )
    if answer.returncode != 0:
        raise UserError(
            f"Slurm does not answer: sinfo said '{answer.stderr.strip()}'. Is its controller up?"
        )
    known = sorted(set(answer.stdout.split()))
    where = f"the profile's slurm_partition (set in {PROFILE}/config.yaml)"
    _refuse_unknown({name for names in asked for name in names.split(",")}, known, where)
    if partition_file:
        _refuse_unknown(partitions_in(Path(partition_file)), known, str(partition_file))


def partitions_in(file: Path) -> set[str]:
    """The names below `partitions:` in the plugin's partition file."""
    import yaml

    content = yaml.safe_load(file.read_text(encoding="utf-8"))
    return {str(name) for name in (content or {}).get("partitions") or {}}


def _refuse_unknown(asked: set[str], known: list[str], where: str) -> None:
    for name in sorted(asked - set(known)):
        raise UserError(
            f"There is no Slurm partition '{name}', which {where} names.{nearest(name, known)} "
            f"This cluster has: {', '.join(known)}."
        )


def check_profile(folder: Path) -> None:
    """Every partition that a profile names is one of this cluster's."""
    import yaml

    profile = yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8"))
    named = (profile.get("default-resources") or {}).get("slurm_partition")
    file = profile.get("slurm-partition-config")
    check_slurm([named] if named else [], folder / file if file else None)


if __name__ == "__main__":
    try:
        check_profile(Path(sys.argv[1] if len(sys.argv) > 1 else PROFILE))
    except (UserError, OSError) as error:
        sys.exit(str(error))
    print("Slurm answers, and has every partition that the profile names.")

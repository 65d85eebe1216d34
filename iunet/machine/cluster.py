"""A check of a Slurm profile, before any job is sent.

python -m iunet.machine.cluster profiles/slurm
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import yaml

from iunet.errors import UserError, nearest


def check_profile(folder: Path) -> None:
    """Slurm is there, answers, and has every partition that the profile names."""
    if shutil.which("sbatch") is None or shutil.which("sinfo") is None:
        raise UserError(
            "The profile sends jobs to Slurm, but this machine has no sbatch. Start Snakemake on "
            "the cluster's login node, or run the jobs here without the profile."
        )
    command = ["sinfo", "--noheader", "--format=%R"]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if answer.returncode != 0:
        raise UserError(
            f"Slurm does not answer: sinfo said '{answer.stderr.strip()}'. Check that its "
            "controller is running."
        )
    known = sorted(set(answer.stdout.split()))
    for name, file in named_partitions(folder).items():
        if name not in known:
            raise UserError(
                f"{file} names the Slurm partition '{name}', which does not exist."
                f"{nearest(name, known)} This cluster has: {', '.join(known)}."
            )


def named_partitions(folder: Path) -> dict[str, Path]:
    """Partitions of a profile, each with the file that names it."""
    profile = folder / "config.yaml"
    content = yaml.safe_load(profile.read_text(encoding="utf-8"))
    found = {}
    if names := (content.get("default-resources") or {}).get("slurm_partition"):
        found = dict.fromkeys(names.split(","), profile)
    if name := content.get("slurm-partition-config"):
        limits = yaml.safe_load((folder / name).read_text(encoding="utf-8")) or {}
        found |= dict.fromkeys(map(str, limits.get("partitions") or {}), folder / name)
    return found


if __name__ == "__main__":
    try:
        check_profile(Path(sys.argv[1] if len(sys.argv) > 1 else "profiles/slurm"))
    except (UserError, OSError) as error:
        sys.exit(str(error))
    print("Slurm answers and has every partition that the profile names.")

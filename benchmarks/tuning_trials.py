"""Trials per minute of the tuned baselines, and what share of the time is model fitting.

    python benchmarks/tuning_trials.py results/splits/vehicle results/splits/phoneme

Each argument is a split (`snakemake results/splits/vehicle/split.json`). The paper's search spaces
and limits; one thread; studies in a temporary folder, journal included.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from iunet.baselines.catalog import LEARNERS  # noqa: E402
from iunet.baselines.learner import Machine, Table, learner_module  # noqa: E402
from iunet.baselines.study import Budget, Worker, open_study  # noqa: E402
from iunet.training.support.environment import set_up_torch  # noqa: E402

OTHERS = ("trials", "per", "minutes", "threads")  # keys of `tuning` that no trial depends on


def measure(method: str, split: Path, minutes: float) -> str:
    config = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())["tuning"][method]
    settings = {key: value for key, value in config.items() if key not in OTHERS}
    files = {part: str(split / f"{part}.safetensors") for part in ("train", "valid")}
    files |= {name: str(split / f"{name}.json") for name in ("preprocessing", "split")}
    module = learner_module(method)
    learner = module.Learner(Table(files), settings, Machine("cpu", 1))
    with tempfile.TemporaryDirectory() as folder:
        study = open_study(Path(folder) / "study.journal", "benchmark")
        started = time.monotonic()
        Worker(
            study,
            module.suggest,
            lambda parameters: learner.try_out(parameters, 0),
            Budget(10**6, minutes),
            seed=0,
            marker=Path(folder) / "begun",
        ).run()
        seconds = time.monotonic() - started
        trials = study.get_trials()
    fitting = sum(trial.user_attrs.get("fit_seconds", 0.0) for trial in trials)
    rate = 60 * len(trials) / seconds
    return f"{len(trials):5d} trials  {rate:7.1f} per minute  fitting {fitting / seconds:6.1%}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("splits", nargs="+", type=Path)
    parser.add_argument("--methods", nargs="+", default=list(LEARNERS))
    parser.add_argument("--minutes", type=float, default=1.0)
    arguments = parser.parse_args()
    set_up_torch("cpu", 1, 1)
    for split in arguments.splits:
        for method in arguments.methods:
            print(f"{split.name:16s} {method:8s} {measure(method, split, arguments.minutes)}")


if __name__ == "__main__":
    main()

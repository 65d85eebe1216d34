"""Whether a config trains long enough: what twice the epochs change in each validation score.

Runs the workflow with the config, and with all its epochs (and rounds of XGBoost) doubled, beside
its results; ends with 1 if a mean over seeds moves by more than the tolerance.

    python benchmarks/doubled_epochs.py [config/demo.yaml] [--tolerance 2]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import yaml
from snakemake.utils import update_config

from iunet.results.runs_csv import read_records
from iunet.runs.settings import network_kind

ROOT = Path(__file__).resolve().parents[1]
EPOCHS = ("epochs", "max_epochs", "first_cycle_epochs", "max_rounds", "max_rounds_dart")


def doubled(section: dict) -> dict:
    """Of a config's section, the epochs alone, each twice as many."""
    result = {}
    for key, value in section.items():
        if isinstance(value, dict):
            result[key] = doubled(value)
        elif key in EPOCHS:
            result[key] = 2 * value
    return {key: value for key, value in result.items() if value != {}}


def run(*configfiles: Path) -> None:
    command = [Path(sys.executable).parent / "snakemake", "--cores", str(os.cpu_count())]
    subprocess.run([*command, "--configfile", *configfiles], cwd=ROOT, check=True)


def validation_scores(results: Path) -> dict[str, float]:
    """Of every method on every data set, by the metric that chooses ratios: the mean over seeds.

    Of a method with several ratios it is the score of the chosen one, which tables show.
    """
    networks: dict[str, list[dict]] = defaultdict(list)
    for row in read_records(results / "runs.csv"):
        networks[f"{row['dataset']}/{row['network']}/{row['method']}"].append(row)
    scores = {}
    for name, rows in networks.items():
        pruned = [row for row in rows if row["chosen"] is not None]
        shown = [row for row in pruned if row["chosen"]] if pruned else rows
        tuned = shown[0]["stage"] == "tuned"
        image = not tuned and network_kind(shown[0]["network"]) == "vision"
        metric = "valid_accuracy" if image else "valid_balanced_accuracy"
        scores[name] = statistics.mean(row[metric] for row in shown)
    return scores


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("config", nargs="?", default="config/demo.yaml", type=Path)
    parser.add_argument("--tolerance", type=float, default=2.0, help="points")
    asked = parser.parse_args()
    config = yaml.safe_load((ROOT / "config/config.yaml").read_text())
    update_config(config, yaml.safe_load((ROOT / asked.config).read_text()))
    results = Path(config["results"])
    twice = results.with_name(f"{results.name}-doubled")
    overlay = {"results": str(twice)} | doubled({key: config[key] for key in ("train", "tuning")})
    (ROOT / twice).mkdir(parents=True, exist_ok=True)
    (ROOT / twice / "config.yaml").write_text(yaml.safe_dump(overlay))
    run(asked.config)
    run(asked.config, twice / "config.yaml")
    once, again = (validation_scores(ROOT / path) for path in (results, twice))
    moved = {name: again[name] - score for name, score in once.items()}
    print(f"{'validation score (mean over seeds)':60}{'once':>8}{'doubled':>9}{'moved':>8}")
    for name in sorted(moved, key=lambda name: -abs(moved[name])):
        print(f"{name:60}{once[name]:8.2f}{again[name]:9.2f}{moved[name]:+8.2f}")
    largest = max(map(abs, moved.values()))
    print(f"the largest change is {largest:.2f} points; allowed are {asked.tolerance:g}")
    sys.exit(largest > asked.tolerance)


if __name__ == "__main__":
    main()

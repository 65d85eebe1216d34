"""What the score of TabNet's best trial was worth: the same parameters trained again.

A trial's score is the best of its epochs on validation. Trained again on train for as many epochs
as it had then: what is the score at the end, what the best on the way, and how far does it move
from one epoch to the next? Seed 0 is the trial's own (with a study per data set): on the same CPU
it repeats the trial, on another one roundings differ. Nothing is chosen here.

    python benchmarks/tabnet_epochs.py results/cpu-study anneal vehicle

Needs the splits and studies of these data sets (`<results>/splits/anneal/split.json`,
`<results>/runs/anneal/tabnet/tuning/study.json`); one thread.
"""

from __future__ import annotations

import argparse
from itertools import pairwise
from pathlib import Path
from statistics import fmean

from iunet.artifacts import read_json
from iunet.baselines.learner import Machine, Table
from iunet.baselines.tabnet import Learner
from iunet.scoring.prediction import predict
from iunet.scoring.scores import balanced_accuracy
from iunet.training.loop import train
from iunet.training.support.environment import set_up_torch

LAST = 20  # epochs over which the changes are averaged


def scores_by_epoch(learner: Learner, best: dict, seed: int) -> dict[str, list[float]]:
    """Balanced accuracy on valid and test after every epoch."""
    rows = learner.part("train")
    training = learner.training(best["parameters"], rows, best["found"]["epochs"], seed, "again")
    training.quiet = True
    scores: dict[str, list[float]] = {"valid": [], "test": []}

    def look(epoch: int) -> bool:
        for name, found in scores.items():
            part = learner.part(name)
            predicted = predict(training.network, learner.inputs, part).argmax(dim=1)
            found.append(balanced_accuracy(part.labels.cpu().numpy(), predicted.cpu().numpy()))
        return False

    training.stop = look
    train(training)
    return scores


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    set_up_torch("cpu", 1, granted_threads=1)
    print("valid at the end, its best, its mean change from epoch to epoch; test at the end")
    for dataset in arguments.datasets:
        split = arguments.results / "splits" / dataset
        files = {part: str(split / f"{part}.safetensors") for part in ("train", "valid", "test")}
        files |= {name: str(split / f"{name}.json") for name in ("preprocessing", "split")}
        study = arguments.results / "runs" / dataset / "tabnet" / "tuning" / "study.json"
        best = read_json(study)["best"]
        learner = Learner(Table(files), {}, Machine("cpu", 1))
        epochs = best["found"]["epochs"]
        print(f"{dataset}, best trial: {best['valid_balanced_accuracy']:.1f} at epoch {epochs}")
        for seed in range(arguments.seeds):
            found = scores_by_epoch(learner, best, seed)
            valid = found["valid"]
            changes = [abs(b - a) for a, b in pairwise(valid[-LAST - 1 :])] or [0.0]
            shown = (valid[-1], max(valid), fmean(changes), found["test"][-1])
            print(f"  seed {seed}:" + "".join(f"{value:8.1f}" for value in shown))


if __name__ == "__main__":
    main()

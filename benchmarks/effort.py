"""How `effort="quick"` was found, and what it loses against `effort="paper"`.

python benchmarks/effort.py MIRROR [--results effort.csv] [--only search]

MIRROR is a folder of data as docs/data.md describes it. Its tables are sorted by name and take
turns: the first, third, fifth, ... are for the search, the others for the report. Rows are split
60/20/20 anew for each seed; at most 600 rows are trained on, at most 2,000 are scored, and
classes with fewer than ten rows are left out.

The search fits every candidate with seed 0 on the tables of the search, and the best few of those
that take at most a tenth of the paper's time with a second seed, too; the one with the best mean
balanced accuracy on validation rows wins. The report then fits both efforts on the other tables
and scores their test rows. All run on one thread and are timed in CPU seconds. Each fit is a row
of the results file, and is not repeated when the command is started again.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from pathlib import Path
from typing import Any

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import pandas as pd  # noqa: E402
from sklearn.metrics import accuracy_score, balanced_accuracy_score  # noqa: E402
from sklearn.model_selection import train_test_split  # noqa: E402

from iunet import IUNetClassifier  # noqa: E402
from iunet.estimator.parameters import EFFORTS  # noqa: E402

TRAIN_ROWS, SCORED_ROWS, CLASS_ROWS = 600, 2000, 10
SEEDS = (0, 1)
FINALISTS = 3
TIMED = 4  # every fourth table of the search says what the paper's effort takes
SHARE_OF_TIME = 0.1  # of the paper's effort


PAPER = EFFORTS["paper"]


def trainings(batch_size: int, supernet: tuple[int, float], finetune: tuple) -> dict[str, Any]:
    """Parameters: epochs and step of the supernet; first cycle, cycles and step of the second."""
    first_cycle_epochs, cycles, finetune_lr = finetune
    return {
        "batch_size": batch_size,
        "supernet_epochs": supernet[0],
        "supernet_lr": supernet[1],
        "first_cycle_epochs": first_cycle_epochs,
        "cycles": cycles,
        "finetune_lr": finetune_lr,
    }


CANDIDATES = [
    trainings(128, (10, 1e-2), (15, 1, 1e-3)),
    trainings(64, (6, 1e-2), (12, 1, 1e-3)),
    trainings(32, (4, 1e-2), (8, 1, 1e-3)),
    trainings(32, (3, 1e-2), (3, 2, 1e-3)),
    trainings(32, (4, 4e-3), (8, 1, 1e-3)),
    trainings(32, (4, 1e-2), (10, 1, 2e-3)),
    trainings(32, (3, 2e-2), (11, 1, 1e-3)),
    trainings(64, (6, 2e-2), (12, 1, 2e-3)),
    trainings(16, (3, 5e-3), (6, 1, 1e-3)),
    trainings(64, (6, 2e-2), (12, 1, 4e-3)),
    trainings(64, (6, 4e-2), (12, 1, 4e-3)),
    trainings(64, (5, 2e-2), (14, 1, 3e-3)),
]


def table(path: Path) -> tuple[pd.DataFrame, pd.Series]:
    frame = pd.read_parquet(path)
    frame = frame[frame["target"].map(frame["target"].value_counts()).astype(int) >= CLASS_ROWS]
    return frame, frame.pop("target").astype(str)


def at_most(n_rows: int, X: pd.DataFrame, y: pd.Series, seed: int) -> tuple:
    chosen = X.sample(n_rows, random_state=seed).index if len(X) > n_rows else X.index
    return X.loc[chosen], y.loc[chosen]


def split(X: pd.DataFrame, y: pd.Series, seed: int) -> dict[str, tuple]:
    X_rest, X_test, y_rest, y_test = train_test_split(
        X, y, test_size=0.2, stratify=y, random_state=seed
    )
    X_train, X_valid, y_train, y_valid = train_test_split(
        X_rest, y_rest, test_size=0.25, stratify=y_rest, random_state=seed
    )
    return {
        "train": at_most(TRAIN_ROWS, X_train, y_train, seed),
        "valid": at_most(SCORED_ROWS, X_valid, y_valid, seed),
        "test": at_most(SCORED_ROWS, X_test, y_test, seed),
    }


class Results:
    """The fits so far, in a file that grows by one row with each."""

    def __init__(self, path: Path):
        self.path = path
        self.rows = pd.read_csv(path).to_dict("records") if path.exists() else []

    def fit(self, file: Path, seed: int, part: str, parameters: dict[str, Any]) -> dict[str, Any]:
        """The row of one fit, scored on `part`; from the file if it is there."""
        shown = " ".join(f"{name}={value}" for name, value in parameters.items())
        key = {"table": file.stem, "seed": seed, "part": part, "parameters": shown}
        for row in self.rows:
            if all(row[name] == value for name, value in key.items()):
                return row
        rows = split(*table(file), seed)
        began = time.process_time()
        model = IUNetClassifier(**parameters, random_state=seed).fit(*rows["train"])
        seconds = time.process_time() - began
        predicted, labels = model.predict(rows[part][0]), rows[part][1]
        scores = {
            "balanced": 100 * balanced_accuracy_score(labels, predicted),
            "accuracy": 100 * accuracy_score(labels, predicted),
            "seconds": seconds,
        }
        self.rows.append(key | scores)
        pd.DataFrame([key | scores]).to_csv(
            self.path, mode="a", header=not self.path.exists(), index=False
        )
        print(" ".join(str(value) for value in (*key.values(), scores)), flush=True)
        return self.rows[-1]

    def mean(self, files: list[Path], seeds: tuple, part: str, parameters: dict) -> pd.Series:
        fits = [self.fit(file, seed, part, parameters) for seed in seeds for file in files]
        return pd.DataFrame(fits)[["balanced", "accuracy", "seconds"]].mean()


def search(results: Results, files: list[Path]) -> dict[str, Any]:
    """The candidate with the best validation score, and a table of all."""
    first = [results.mean(files, SEEDS[:1], "valid", asked) for asked in CANDIDATES]
    paper_s = results.mean(files[::TIMED], SEEDS[:1], "valid", PAPER)["seconds"]
    shares = [
        results.mean(files[::TIMED], SEEDS[:1], "valid", asked)["seconds"] / paper_s
        for asked in CANDIDATES
    ]
    fast = [place for place, share in enumerate(shares) if share <= SHARE_OF_TIME]
    best = sorted(fast, key=lambda place: -first[place]["balanced"])[:FINALISTS]
    final = {place: results.mean(files, SEEDS, "valid", CANDIDATES[place]) for place in best}
    print("\n| candidate | seed 0 | both seeds | share of the time |\n|---|---|---|---|")
    for place, scores in enumerate(first):
        both = f"{final[place]['balanced']:.2f}" if place in final else ""
        print(f"| {CANDIDATES[place]} | {scores['balanced']:.2f} | {both} | {shares[place]:.3f} |")
    chosen = CANDIDATES[max(final, key=lambda place: final[place]["balanced"])]
    print(f"\nChosen: {chosen} ({'' if chosen == EFFORTS['quick'] else 'not '}iunet's own)")
    return chosen


def report(results: Results, files: list[Path], quick: dict[str, Any]) -> None:
    """Test scores of both efforts on the tables that the search did not see."""
    print(
        "\n| table | paper | quick | difference | paper, s | quick, s |\n|---|---|---|---|---|---|"
    )
    for seed in SEEDS:  # so that a run that is cut short has all tables
        results.mean(files, (seed,), "test", PAPER)
    means = {}
    for file in files:
        both = [results.mean([file], SEEDS, "test", asked) for asked in (PAPER, quick)]
        means[file.stem] = [scores[name] for name in ("balanced", "seconds") for scores in both]
    means["mean"] = pd.DataFrame(means).mean(axis=1).tolist()
    for name, (paper, quick_score, paper_s, quick_s) in means.items():
        print(
            f"| {name} | {paper:.1f} | {quick_score:.1f} | {quick_score - paper:+.1f} "
            f"| {paper_s:.1f} | {quick_s:.1f} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("mirror", type=Path)
    parser.add_argument("--results", type=Path, default=Path("effort.csv"))
    parser.add_argument("--only", choices=["search"])
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # of columns that look like identifiers
    files = [
        file
        for file in sorted((arguments.mirror / "tabular").glob("*.parquet"))
        if file.stem != "creditcard-fraud"  # 1,000 of its rows have two frauds
    ]
    results = Results(arguments.results)
    quick = search(results, files[::2])
    if not arguments.only:
        report(results, files[1::2], quick)


if __name__ == "__main__":
    main()

"""IUNetClassifier against other classifiers, all with their defaults.

python benchmarks/estimator.py MIRROR [--datasets vehicle credit-g anneal] [--seeds 0 1 2]
    [--models IUNetClassifier XGBoost]

MIRROR is a folder of data as docs/data.md describes it. For each seed, a stratified fifth of the
rows is for testing; the seed is the models', too. Everything runs on one thread and is timed in CPU
seconds, so that other programs disturb little. Bytes: of the saved file, of others the pickle.
"""

from __future__ import annotations

import argparse
import os
import pickle
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import pandas as pd  # noqa: E402
from sklearn.compose import make_column_selector, make_column_transformer  # noqa: E402
from sklearn.ensemble import HistGradientBoostingClassifier  # noqa: E402
from sklearn.exceptions import ConvergenceWarning  # noqa: E402
from sklearn.impute import SimpleImputer  # noqa: E402
from sklearn.metrics import accuracy_score, balanced_accuracy_score  # noqa: E402
from sklearn.model_selection import train_test_split  # noqa: E402
from sklearn.neural_network import MLPClassifier  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import LabelEncoder, OneHotEncoder, StandardScaler  # noqa: E402
from xgboost import XGBClassifier  # noqa: E402

from iunet import IUNetClassifier  # noqa: E402

REPEATS = 15  # calls of each model at each batch size, in turns; the median counts
BATCHES = (1, 256)
COLUMNS = ["accuracy", "balanced", "fit s", "ms at 1", "ms at 256", "kB"]


def scaled_mlp(seed: int) -> Any:
    """scikit-learn's MLP needs numbers without gaps."""
    categories = make_column_selector(dtype_include="category")
    numbers = make_column_selector(dtype_exclude="category")
    prepared = make_column_transformer(
        (make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), numbers),
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), categories),
    )
    return make_pipeline(prepared, MLPClassifier(random_state=seed))


MODELS: dict[str, Callable[[int], Any]] = {
    "IUNetClassifier": lambda seed: IUNetClassifier(random_state=seed),
    "… effort=quick": lambda seed: IUNetClassifier(random_state=seed, effort="quick"),
    "… structure=unit": lambda seed: IUNetClassifier(random_state=seed, structure="unit"),
    "MLPClassifier": scaled_mlp,
    "HistGradientBoosting": lambda seed: HistGradientBoostingClassifier(random_state=seed),
    "XGBoost": lambda seed: XGBClassifier(random_state=seed, enable_categorical=True, n_jobs=1),
}


def stored_bytes(model: Any) -> int:
    if not isinstance(model, IUNetClassifier):
        return len(pickle.dumps(model))
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model")
        return (Path(folder) / "model").stat().st_size


def cpu_seconds(call: Callable[..., Any], *arguments: Any) -> float:
    began = time.process_time()
    call(*arguments)
    return time.process_time() - began


def measure(X: pd.DataFrame, y: pd.Series, seed: int, names: list[str]) -> dict[str, list[float]]:
    """The values of `COLUMNS` for every model."""
    split = train_test_split(X, y, test_size=0.2, stratify=y, random_state=seed)
    X_train, X_test, y_train, y_test = split
    models = {name: MODELS[name](seed) for name in names}
    found = {}
    for name, model in models.items():
        fit_s = cpu_seconds(model.fit, X_train, y_train)
        predicted = model.predict(X_test)
        scores = accuracy_score(y_test, predicted), balanced_accuracy_score(y_test, predicted)
        found[name] = [100 * scores[0], 100 * scores[1], fit_s]
    for n_rows in BATCHES:
        rows = pd.concat([X_test] * (n_rows // len(X_test) + 1)).head(n_rows)
        times: dict[str, list[float]] = {name: [] for name in models}
        for _ in range(REPEATS):
            for name, model in models.items():
                times[name].append(cpu_seconds(model.predict_proba, rows))
        for name in models:
            found[name].append(1000 * statistics.median(times[name]))
    for name, model in models.items():
        found[name].append(stored_bytes(model) / 1000)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mirror", type=Path)
    parser.add_argument("--datasets", nargs="+", default=["vehicle", "credit-g", "anneal"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=MODELS)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)  # of MLPClassifier with its defaults
    results: dict[tuple[str, str], list[list[float]]] = {}
    for seed in arguments.seeds:
        for dataset in arguments.datasets:
            frame = pd.read_parquet(arguments.mirror / "tabular" / f"{dataset}.parquet")
            y = pd.Series(LabelEncoder().fit_transform(frame.pop("target")))
            for model, values in measure(frame, y, seed, arguments.models).items():
                results.setdefault((dataset, model), []).append(values)
                shown = "  ".join(f"{c} {v:.2f}" for c, v in zip(COLUMNS, values, strict=True))
                print(f"{dataset}, seed {seed}: {model}: {shown}", flush=True)
    print(f"\n| data | model | {' | '.join(COLUMNS)} |\n|---|---|{'---|' * len(COLUMNS)}")
    for (dataset, model), rows in sorted(results.items(), key=lambda item: item[0][0]):
        cells = []
        for column in zip(*rows, strict=True):
            spread = statistics.stdev(column) if len(column) > 1 else 0.0
            digits = 0 if statistics.mean(column) >= 100 else 1
            cells.append(f"{statistics.mean(column):.{digits}f} ± {spread:.{digits}f}")
        print(f"| {dataset} | {model} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()

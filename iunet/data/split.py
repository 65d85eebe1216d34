"""The split stage: train, valid and test, and what is fitted on train.

Vision: the official test set, and 20 % of the train set, rounded down, as valid. Tabular: 20 %
test, then 25 % of the rest as valid. Both stratified and with the fixed seed 11. Tables are split
row for row as Kadra et al. (2021) split them, whom the paper follows.

Each part has its own file. A job that reads `test` must name it as an input, so the graph of the
workflow shows that only evaluations do.
"""

from __future__ import annotations

import logging
import math
from pathlib import Path
from typing import Any

import numpy as np

from iunet.artifacts import read_arrays, read_description, write_arrays, write_json
from iunet.data.preprocess import apply_preprocessing, dictionary_codes, fit_preprocessing
from iunet.errors import UserError, naming

log = logging.getLogger(__name__)
PARTS = ("train", "valid", "test")
MIN_ROWS = 5  # of fewer, 20 % rounded down is no row


def split_table(
    data_path: str | Path,
    json_path: str | Path,
    output: dict[str, str],
    seed: int,
    test_share: float,
    valid_share: float,
    max_categories: int,
) -> None:
    """Split a table, fit the preprocessing on train, and write the parts as arrays.

    `output` names the files: one per part (`numeric`, `categorical` codes, `labels`), `indices`
    (row numbers of the parts), `preprocessing` and `split` (JSON).
    """
    import pyarrow.parquet as pq

    description = read_description(json_path, data_path)
    table = pq.read_table(data_path)
    n_test = math.ceil(test_share * table.num_rows)
    n_valid = math.ceil(valid_share * (table.num_rows - n_test))
    _check_enough_rows(description, table.num_rows, n_valid + n_test, n_valid)
    labels, class_names = dictionary_codes(table.column(description["target"]))
    features = table.drop_columns(description["target"])

    rows, pooled_test, pooled_valid = table_rows(labels, class_names, test_share, valid_share, seed)

    parts = {}
    with naming(f"Data set '{description['dataset']}'"):
        fitted = fit_preprocessing(features, rows["train"], max_categories)
        for part in PARTS:
            numeric, codes = apply_preprocessing(fitted, features, rows[part])
            labels_of_part = labels[rows[part]].astype("i8")
            parts[part] = {"numeric": numeric, "categorical": codes, "labels": labels_of_part}
    write_json(output["preprocessing"], {"kind": "tabular", **fitted.to_json()})
    facts = {
        "seed": seed,
        "test_share": test_share,
        "valid_share": valid_share,
        "pooled_for_test": pooled_test,
        "pooled_for_valid": pooled_valid,
        "n_features": description["n_features"],
        "n_inputs": fitted.n_inputs,
        "dropped_columns": fitted.dropped,
    }
    _write_split(output, description, rows, parts, class_names, facts)


def split_images(
    data_path: str | Path,
    json_path: str | Path,
    output: dict[str, str],
    seed: int,
    valid_share: float,
) -> None:
    """Split an image set, and measure the channels' mean and std on train.

    The parts hold uint8 `images` [n, channels, side, side] and `labels`.
    """
    description = read_description(json_path, data_path)
    data = read_arrays(data_path)
    n_rows = len(data["y_train"])
    n_valid = math.floor(valid_share * n_rows)
    _check_enough_rows(description, n_rows, n_valid, n_valid)
    train, valid, pooled = stratified_split(data["y_train"], valid_share, seed, round_down=True)
    test = np.arange(len(data["y_test"]))
    rows = {"train": np.sort(train), "valid": np.sort(valid), "test": test}
    parts = {}
    for part in PARTS:
        official = "test" if part == "test" else "train"
        images = data[f"x_{official}"][rows[part]].transpose(0, 3, 1, 2)
        parts[part] = {"images": images, "labels": data[f"y_{official}"][rows[part]]}
    mean, std = channel_statistics(parts["train"]["images"])
    write_json(output["preprocessing"], {"kind": "vision", "mean": mean, "std": std})
    class_names = [entry["name"] for entry in description["classes"]]
    facts = {
        "seed": seed,
        "valid_share": valid_share,
        "pooled_for_valid": [class_names[c] for c in pooled],
    }
    facts |= {key: description[key] for key in ("side", "channels")}
    _write_split(output, description, rows, parts, class_names, facts)


def _check_enough_rows(
    description: dict[str, Any], n_rows: int, n_held_out: int, n_valid: int
) -> None:
    """Every part has a row, and train has two: the least that a batch can have."""
    if n_rows < MIN_ROWS or n_valid < 1 or n_rows - n_held_out < 2:
        raise UserError(
            f"Data set '{description['dataset']}' has {n_rows} rows, too few to split with the "
            f"shares of the config key 'split.{description['kind']}'. At least {MIN_ROWS} rows are "
            "needed, or other shares."
        )


def table_rows(
    labels: np.ndarray, class_names: list[str], test_share: float, valid_share: float, seed: int
) -> tuple[dict[str, np.ndarray], list[str], list[str]]:
    """The rows of each part, in ascending order, and the names of the classes that were pooled.

    They are the rows that two calls of scikit-learn's `train_test_split` give, stratified by the
    labels' text. It draws class by class in the order of the labels, and from the rows in the order
    given. So the classes are ranked as text ("10" before "2"), and the second call gets the rows in
    the order that the first returned: only what is written is sorted.
    """
    in_text_order, rank = np.unique(class_names, return_inverse=True)
    text_labels = rank[labels]
    rest, test, pooled_test = stratified_split(text_labels, test_share, seed)
    train, valid, pooled_valid = stratified_split(text_labels[rest], valid_share, seed)
    rows = {"train": np.sort(rest[train]), "valid": np.sort(rest[valid]), "test": np.sort(test)}

    def names(classes: list[int]) -> list[str]:
        return [name for name in class_names if name in in_text_order[classes]]

    return rows, names(pooled_test), names(pooled_valid)


def stratified_split(
    labels: np.ndarray, share: float, seed: int, round_down: bool = False
) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Split rows in two, stratified by label: (first, second, classes that had to be pooled).

    Both have their rows in the order in which scikit-learn returns them. The second part has
    `share` of the rows, rounded up as scikit-learn does (or down). A class with one row cannot be
    stratified, and a part cannot have a row of every class if it has fewer rows than classes. Then
    the rarest classes, as few as need be, are pooled into one stratum; all other classes stay
    stratified. A pool of a single row goes to the first part.
    """
    from sklearn.model_selection import train_test_split

    n_second = (math.floor if round_down else math.ceil)(share * len(labels))
    strata, pooled = _strata(labels, min(n_second, len(labels) - n_second))
    rows = np.arange(len(labels))
    alone = rows[:0]
    if pooled and (strata == strata.max()).sum() == 1:
        alone = rows[strata == strata.max()]
        rows = rows[strata != strata.max()]
    many = len(np.unique(strata[rows])) > 1
    first, second = train_test_split(
        rows, test_size=n_second, random_state=seed, stratify=strata[rows] if many else None
    )
    return np.concatenate([first, alone]), second, pooled


def _strata(labels: np.ndarray, n_smaller: int) -> tuple[np.ndarray, list[int]]:
    """The labels with the rarest classes pooled, and which those are (see `stratified_split`)."""
    classes, counts = np.unique(labels, return_counts=True)
    rarest_first = classes[np.argsort(counts, kind="stable")]
    n_pooled = int((counts < 2).sum())
    if len(classes) > n_smaller:  # strata left: the classes not pooled, and the pool
        n_pooled = max(n_pooled, len(classes) - n_smaller + 1)
    pooled = sorted(int(c) for c in rarest_first[:n_pooled])
    strata = labels.astype(np.int64, copy=True)
    strata[np.isin(labels, pooled)] = classes.max() + 1
    return strata, pooled


def channel_statistics(images: np.ndarray) -> tuple[list[float], list[float]]:
    """Mean and std of every channel of uint8 images [n, channels, …], on the scale 0–1.

    From the histogram of the 256 grey levels: exact, and without a float copy of the images.
    """
    levels = np.arange(256) / 255.0
    means, stds = [], []
    for channel in range(images.shape[1]):
        counts = np.bincount(images[:, channel].ravel(), minlength=256)
        mean = float(counts @ levels / counts.sum())
        means.append(mean)
        stds.append(float(np.sqrt(counts @ (levels - mean) ** 2 / counts.sum())) or 1.0)
    return means, stds


def _write_split(
    output: dict[str, str],
    description: dict[str, Any],
    rows: dict[str, np.ndarray],
    parts: dict[str, dict[str, np.ndarray]],
    class_names: list[str],
    facts: dict[str, Any],
) -> None:
    dataset = description["dataset"]
    for part, arrays in parts.items():
        write_arrays(output[part], arrays, dataset=dataset, part=part)
    write_arrays(
        output["indices"], {part: rows[part].astype("i8") for part in PARTS}, dataset=dataset
    )
    counts = {
        part: np.bincount(a["labels"], minlength=len(class_names)) for part, a in parts.items()
    }
    content = {
        "dataset": dataset,
        "kind": description["kind"],
        "data_sha256": description["sha256"],
        "provenance": description["provenance"],
        **{f"n_{part}": len(rows[part]) for part in PARTS},
        "n_classes": len(class_names),
        **facts,
        "classes_without_train_rows": [
            name for name, n in zip(class_names, counts["train"], strict=True) if n == 0
        ],
        "classes": [
            {"name": name, **{part: int(counts[part][i]) for part in PARTS}}
            for i, name in enumerate(class_names)
        ],
    }
    write_json(output["split"], content)
    for key in ("pooled_for_test", "pooled_for_valid"):
        if facts.get(key):
            log.warning("%s: too few rows to stratify, %s: %s", dataset, key, facts[key])
    log.info("%s: %s", dataset, ", ".join(f"{part} {len(rows[part])}" for part in PARTS))

"""Tables as their rule makes them: from requests to files."""

from __future__ import annotations

import json

from iunet.artifacts import write_json
from iunet.tables.ask import Ask
from iunet.tables.make import make_table

METRICS = ("accuracy", "balanced_accuracy", "swapped_balanced_accuracy")


def evaluation(path, dataset: str, seed: int, score: float) -> str:
    metrics = {f"{part}_{metric}": score for part in ("valid", "test") for metric in METRICS}
    result = {"stage": "dense", "ratio": 1, "failed": None, "metrics": metrics, "sizes": {}}
    facts = {"run": "r", "dataset": dataset, "network": {"name": "mlp_vis"}, "seed": seed}
    write_json(path, facts | result)
    return str(path)


def test_scores_on_a_subset_are_not_judged(tmp_path):
    """The paper's value stays beside them, but says neither yes nor no."""
    requests = [
        {
            "dataset": dataset,
            "network": "mlp_vis",
            "method": "dense",
            "seed": seed,
            "stage": "dense",
            "evaluations": {"dense": evaluation(tmp_path / f"{dataset}{seed}", dataset, seed, 50)},
            "choice": None,
            "own_choice": True,
            "cut": None,
            "missing": None,
        }
        for dataset in ("cifar10", "svhn")
        for seed in (0, 1)
    ]
    subset = {"n_train": 9, "official_n_train": 50, "n_test": 1, "official_n_test": 10}
    for dataset, part in (("cifar10", subset), ("svhn", None)):
        content = {"dataset": dataset, "provenance": {"source": "mirror", "subset": part}}
        write_json(tmp_path / f"{dataset}.json", content)
    splits = [str(tmp_path / f"{dataset}.json") for dataset in ("cifar10", "svhn")]
    about = {"stand_ins": {}, "notes": []}
    output = {"json": str(tmp_path / "table1")}
    make_table("table1", Ask(requests=requests), about, splits, output)
    document = json.loads((tmp_path / "table1").read_text())
    notes = {row["key"]: row["notes"] for row in document["rows"]}
    assert notes["mlp_vis/cifar10"] == ["subset: 9+1 of 50+10 images"]
    part, whole = (document["cells"][f"mlp_vis/{name}"]["dense"] for name in ("cifar10", "svhn"))
    assert part["paper"]["mean"] == 59.266 and part["agrees"] == "n/a"
    assert whole["agrees"] == "no"

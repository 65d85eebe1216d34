"""One method, two users: the classifier and the workflow's stages give the same bits."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
import yaml
from conftest import ROOT
from toy_run import job

from iunet import IUNetClassifier
from iunet.artifacts import read_arrays, read_json
from iunet.data.download import download
from iunet.data.load import load_part, make_inputs
from iunet.data.registry import read_registry
from iunet.data.sources import source_settings
from iunet.data.split import split_table
from iunet.estimator.parameters import (
    EFFORTS,
    checked_parameters,
    finetune_settings,
    supernet_settings,
)
from iunet.evaluation.evaluate import evaluate_subnetwork
from iunet.method.masks import read_masks
from iunet.method.pruning import Cut, prune_supernet
from iunet.networks.network import NetworkSpec, build_network
from iunet.runs import settings
from iunet.scoring.prediction import mean_softmax
from iunet.training.finetune import FinetuneSettings, finetune
from iunet.training.initial import write_initial
from iunet.training.members import read_members
from iunet.training.supernet import SupernetSettings, train_supernet
from iunet.training.support.environment import set_up_torch

CONFIG = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())
CPU = torch.device("cpu")
SMALL = {
    "width": 48,
    "depth": 3,
    "supernet_epochs": 4,
    "supernet_lr": 0.01,
    "first_cycle_epochs": 2,
    "cycles": 2,
}


def small_config(mirror: Path) -> dict[str, Any]:
    """The workflow's config, as small as `SMALL`."""
    config = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())
    config["data"]["mirror"] = str(mirror)
    config["networks"]["mlp_tab"] |= {key: SMALL[key] for key in ("width", "depth")}
    train = config["train"]
    train["supernet"]["epochs"] = SMALL["supernet_epochs"]
    train["supernet"]["optimiser"]["lr"] = SMALL["supernet_lr"]
    train["finetune_tabular"] |= {key: SMALL[key] for key in ("first_cycle_epochs", "cycles")}
    return config


def point(seed: int, cut: str = "ratio8", options: str = "") -> SimpleNamespace:
    return SimpleNamespace(
        network="mlp_tab", supernet=f"kappa0.25-ilo{options}", seed=seed, cut=cut, options=options
    )


class Stages:
    """The stages of one run, in a folder, by the functions that the rules' scripts call."""

    def __init__(self, folder: Path, config: dict[str, Any], dataset: str, where: SimpleNamespace):
        self.folder, self.config, self.where = folder, config, where
        row = read_registry([ROOT / "config" / "datasets.csv"])[dataset]
        data, description = self.file("data.parquet"), self.file("data.json")
        download(row, source_settings(config["data"]), data, description)
        parts = ("train", "valid", "test", "indices", "preprocessing", "split")
        self.split = {part: self.file(part) for part in parts}
        split_table(data, description, self.split, **settings.split_settings(config, row))
        self.initial = {"weights": self.file("initial"), "description": self.file("initial.json")}
        network = settings.network_settings(config, "mlp_tab")
        write_initial(self.split["split"], self.initial, network, config["init"], where.seed)
        self.train()

    def file(self, name: str) -> str:
        return str(self.folder / name)

    def inputs(self, **more: str) -> dict[str, str]:
        initial = {"initial": self.initial["weights"], "description": self.initial["description"]}
        return {**self.split, **initial, **more}

    def train(self) -> None:
        config, where = self.config, self.where
        supernet = {
            key: self.file(f"supernet-{key}") for key in ("weights", "histograms", "report")
        }
        train_supernet(
            self.inputs(),
            supernet,
            SupernetSettings(**settings.supernet_settings(config, where)),
            settings.supernet_augment(config, where),
            job("supernet", {}, 1e9),
        )
        pruned = {"mask": self.file("mask"), "report": self.file("mask.json")}
        trained = {"supernet": supernet["weights"], "supernet_report": supernet["report"]}
        cut = Cut(**settings.cut_settings(config, where))
        prune_supernet(self.inputs(**trained), pruned, "run", cut)
        self.masks = {"mask": pruned["mask"], "mask_report": pruned["report"]}
        self.weights = self.file("weights")
        finetune(
            self.inputs(**self.masks),
            {
                "weights": self.weights,
                "predictions": self.file("predictions"),
                "report": self.file("finetune.json"),
            },
            FinetuneSettings(**settings.finetune_settings(config, where)),
            job("finetune", {}, 1e9),
        )

    def probabilities(self) -> np.ndarray:
        """Of the test rows, in the order of the network's outputs."""
        network = build_network(NetworkSpec(**read_json(self.initial["description"])["network"]))
        members = read_members(self.weights, read_masks(*self.masks.values()), CPU)
        inputs = make_inputs(read_json(self.split["preprocessing"]), CPU)
        return mean_softmax(network, members, inputs, load_part(self.split["test"], CPU)).numpy()

    def trained_consistency(self) -> dict[str, Any]:
        inputs = self.inputs(**self.masks, weights=self.weights)
        output = self.file("evaluation.json")
        evaluate_subnetwork(inputs, output, "run", self.config["augment"]["tabular"], CPU)
        return read_json(output)["trained_consistency"]["feat"]


CASES = {  # data set → how the method is varied
    "vehicle": ({"structure": "unit", "ratio": 4}, "", "units4"),
    "anneal": ({}, "", "ratio8"),  # categories, missing values
    "mfeat-factors": ({"class_weight": "balanced"}, "-balanced", "ratio8"),  # ten classes of text
}


@pytest.mark.mirror
@pytest.mark.parametrize("dataset", CASES)
def test_probabilities_equal_the_workflows_bit_for_bit(tmp_path, mirror, dataset):
    parameters, options, cut = CASES[dataset]
    set_up_torch("cpu", 1, 1)
    stages = Stages(tmp_path, small_config(mirror), dataset, point(3, cut, options))
    frame = pd.read_parquet(mirror / "tabular" / f"{dataset}.parquet")
    rows = read_arrays(stages.split["indices"])
    X, y = frame.drop(columns="target"), frame["target"]
    model = IUNetClassifier(**SMALL, **parameters, random_state=3)
    model.fit(X.iloc[rows["train"]], y.iloc[rows["train"]])
    ours = model.predict_proba(X.iloc[rows["test"]])

    expected = stages.probabilities()
    names = [entry["name"] for entry in read_json(stages.split["split"])["classes"]]
    assert sorted(names) == list(model.classes_)
    for place, name in enumerate(names):
        (column,) = np.flatnonzero(model.classes_ == name)
        assert np.array_equal(ours[:, column], expected[:, place])
    assert len(np.unique(ours, axis=0)) > 10  # no constant
    if dataset == "mfeat-factors":
        assert names != list(model.classes_)  # "10" is the last output, and the second class
        assert len(names) == 10
    same = model.consistency(X.iloc[rows["test"]], X.iloc[rows["train"]], random_state=3)
    assert same == stages.trained_consistency()


def test_quick_sets_the_parameters_that_are_not_given():
    quick = checked_parameters(IUNetClassifier(effort="quick", finetune_lr=0.5))
    wanted = checked_parameters(IUNetClassifier()) | EFFORTS["quick"]
    assert quick == wanted | {"effort": "quick", "finetune_lr": 0.5}
    assert quick["supernet_epochs"] < EFFORTS["paper"]["supernet_epochs"]


def test_the_defaults_are_the_configs():
    model, where = IUNetClassifier(), point(5)
    supernet = supernet_settings(checked_parameters(model), seed=5)
    finetune = finetune_settings(checked_parameters(model), seed=5)
    assert supernet == SupernetSettings(**settings.supernet_settings(CONFIG, where))
    assert finetune == FinetuneSettings(**settings.finetune_settings(CONFIG, where))
    cut = Cut(model.ratio, model.structure, seed=5)
    assert cut == Cut(**settings.cut_settings(CONFIG, where))
    assert {"corruption": model.corruption} == settings.supernet_augment(CONFIG, where)
    options = settings.network_settings(CONFIG, "mlp_tab")["options"]
    assert {"width": model.width, "depth": model.depth} == options
    assert model.init == CONFIG["init"]
    assert model.max_categories == CONFIG["split"]["max_categories"]
    assert [model.ratio] == CONFIG["prune"]["tabular"]["ratios"]
    assert model.n_threads == CONFIG["train"]["threads"]
    assert model.device == CONFIG["device"]
    iunet = CONFIG["methods"]["iunet"]
    assert (model.kappa, model.objective) == (iunet["kappa"], iunet["objective"])

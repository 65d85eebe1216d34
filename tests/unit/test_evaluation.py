"""Metrics, consistency and sizes, against scikit-learn and by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from torch import nn
from toy_run import AUGMENT, Toy

from iunet.data.load import Part
from iunet.errors import UserError
from iunet.evaluation.consistency import consistency, set_batchnorm_statistics
from iunet.evaluation.evaluate import evaluate_dense, evaluate_supernet
from iunet.evaluation.sizes import sizes
from iunet.method.choice import choose, select
from iunet.networks.network import NetworkSpec, build_network, initialise
from iunet.scoring.metrics import classification_metrics


@pytest.mark.filterwarnings("ignore::UserWarning:sklearn")
@settings(deadline=None, max_examples=200)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=40))
def test_metrics_are_scikit_learns(pairs):
    labels, predicted = np.array(pairs).T
    metrics = classification_metrics(labels, predicted)
    assert metrics["accuracy"] == pytest.approx(100 * accuracy_score(labels, predicted))
    balanced = 100 * balanced_accuracy_score(labels, predicted)
    swapped = 100 * balanced_accuracy_score(predicted, labels)
    assert metrics["balanced_accuracy"] == pytest.approx(balanced)
    assert metrics["swapped_balanced_accuracy"] == pytest.approx(swapped)


def test_constant_predictor_shows_the_papers_metric():
    """The majority rate of credit-g's test split, 140 of 200, as in the paper's table 7."""
    metrics = classification_metrics(np.repeat([0, 1], [140, 60]), np.zeros(200, int))
    assert metrics == {
        "accuracy": 70.0,
        "balanced_accuracy": 50.0,
        "swapped_balanced_accuracy": 70.0,
    }


class PlainInputs:
    """Inputs as they are; one transform that negates, and one that does nothing."""

    def prepare(self, raw):
        return raw

    def single_transforms(self):
        return {"negate": lambda raw, _: -raw, "nothing": lambda raw, _: raw}


def test_consistency_by_hand():
    """A network that predicts by the sign of x: negation flips all but the ties."""
    network = nn.Sequential(nn.Linear(1, 2, bias=False))
    network[0].weight.data = torch.tensor([[1.0], [-1.0]])
    raw = torch.tensor([[1.0], [-2.0], [3.0], [0.0]])
    part = Part(raw, torch.zeros(4))
    generators = dict.fromkeys(["negate", "nothing"])
    found = consistency(network, PlainInputs(), part, part, generators)
    assert found["negate"] == {"same": 25.0, "distinct_labels": 2}
    assert found["nothing"] == {"same": 100.0, "distinct_labels": 2}


def test_constant_predictor_is_consistent_with_one_label():
    network = nn.Sequential(nn.Linear(1, 3))
    network[0].weight.data.zero_()
    part = Part(torch.randn(5, 1), torch.zeros(5))
    found = consistency(network, PlainInputs(), part, part, {"negate": None, "nothing": None})
    assert found["negate"] == {"same": 100.0, "distinct_labels": 1}


def test_batchnorm_statistics_are_those_of_the_train_split():
    network = initialise(
        NetworkSpec("mlp_tab", 3, n_inputs=4, options={"width": 8, "depth": 1}), "torch_default", 0
    )
    raw = torch.randn(500, 4)
    set_batchnorm_statistics(network, PlainInputs(), Part(raw, torch.zeros(500)))
    activations = raw @ network.encoder[0].weight.T
    norm = network.encoder[1]
    assert torch.allclose(norm.running_mean, activations.mean(dim=0), atol=1e-5)
    assert torch.allclose(norm.running_var, activations.var(dim=0), rtol=1e-4)
    assert norm.momentum == 0.1


def test_batchnorm_statistics_do_not_depend_on_the_order_of_the_rows():
    """Two batches of a file sorted by class: each alone has too small a variance."""
    network = initialise(
        NetworkSpec("mlp_tab", 3, n_inputs=1, options={"width": 4, "depth": 1}), "torch_default", 0
    )
    raw = torch.cat([torch.full((1000, 1), -1.0), torch.full((1000, 1), 1.0)])
    set_batchnorm_statistics(network, PlainInputs(), Part(raw, torch.zeros(2000)))
    variance = (raw @ network.encoder[0].weight.T).var(dim=0)
    assert torch.allclose(network.encoder[1].running_var, variance, rtol=0.02)


def test_sizes_by_hand():
    spec = NetworkSpec("mlp_tab", 3, n_inputs=4, options={"width": 8, "depth": 2})
    network = build_network(spec)
    kept = {"encoder.0.weight": 10, "encoder.3.weight": 6}
    found = sizes(network, spec, kept, members=3)
    n_encoder, n_total = 4 * 8 + 8 * 8, 4 * 8 + 8 * 8 + 2 * 16 + 8 * 3 + 3
    assert found == {
        "encoder_weights": n_encoder,
        "kept_encoder_weights": 16,
        "encoder_compression": n_encoder / 16,
        "parameters": n_total,
        "kept_parameters": n_total - n_encoder + 16,
        "model_compression": n_total / (n_total - n_encoder + 16),
        "flops_dense": 2 * (n_encoder + 24),
        "flops_sparse": 2 * (16 + 24),
        "members": 3,
        "ensemble_kept_parameters": 3 * (n_total - n_encoder + 16),
        "ensemble_flops_sparse": 3 * 2 * (16 + 24),
    }


def test_convolutions_are_used_at_every_pixel():
    spec = NetworkSpec("cnn", 3, side=16, options={"alpha": 1})
    network = build_network(spec)
    sides = [16, 8, 8, 4, 4, 2, 2, 1]
    channels = [3, 1, 2, 2, 4, 4, 8, 8, 16]
    convolutions = sum(
        9 * a * b * side**2 for a, b, side in zip(channels, channels[1:], sides, strict=False)
    )
    assert sizes(network, spec, {}, 1)["flops_dense"] == 2 * (convolutions + 16 * 64 + 64 * 3)


def candidate(name: str, mean: float | None, failed: str | None = None) -> dict:
    supernet, _, cut = name.rpartition("/")
    ratio = None if cut == "survivors" else float(cut.removeprefix("ratio"))
    return {"supernet": supernet, "cut": cut, "ratio": ratio, "mean": mean, "failed": failed}


@pytest.mark.parametrize(
    ("candidates", "best"),
    [
        ([candidate("s/ratio2", 85.0), candidate("s/ratio4", 86.0)], 1),
        ([candidate("s/ratio2", 85.0), candidate("s/ratio16", 85.0), candidate("s/ratio8", 85)], 1),
        (
            [
                candidate("kappa1-lasso0.00001/survivors", 80.0),
                candidate("kappa1-lasso0.00002/survivors", 80.0),
                candidate("kappa1-lasso0.00005/survivors", None, "every weight died (seed 0)"),
            ],
            1,
        ),
    ],
    ids=["the mean", "ties to the larger ratio", "ties to the larger l1, failures not at all"],
)
def test_what_is_chosen(candidates, best):
    assert choose(candidates) is candidates[best]


def test_the_stage_that_chooses(tmp_path):
    def report(name: str, **content) -> str:
        path = tmp_path / name
        path.write_text(json.dumps(content))
        return str(path)

    def good(name: str, score: float) -> str:
        return report(name, failed=None, metrics={"valid_accuracy": score})

    candidates = [
        {"supernet": "s", "cut": "ratio2", "reports": {0: good("a", 80.0), 1: good("b", 90.0)}},
        {
            "supernet": "s",
            "cut": "ratio4",
            "reports": {0: good("c", 99.0), 1: report("d", failed="died", metrics={})},
        },
    ]
    facts = {"dataset": "wine", "network": "mlp_tab", "method": "omp"}
    select(candidates, "accuracy", facts, tmp_path / "out")
    content = json.loads((tmp_path / "out").read_text())
    assert content["chosen"] == {"supernet": "s", "cut": "ratio2", "ratio": 2.0}
    assert content["candidates"][0]["per_seed"] == {"0": 80.0, "1": 90.0}
    assert content["candidates"][1]["failed"] == "died (seed 1)"
    select(candidates[1:], "accuracy", facts, tmp_path / "out")
    assert json.loads((tmp_path / "out").read_text())["chosen"] is None
    with pytest.raises(UserError, match="has no metric 'valid_f1'"):
        select(candidates, "f1", facts, tmp_path / "out")


# ---- the stage


def test_evaluate_stage(tmp_path):
    toy = Toy(tmp_path / "toy")
    toy.initialise()
    toy.supernet()
    toy.prune(4)
    toy.finetune()
    subnetwork = {
        "name": "ratio4",
        "weights": toy.path("finetune/weights"),
        "mask": toy.path("mask/mask"),
        "mask_report": toy.path("mask/report"),
    }
    reports = {"supernet_report": toy.path("supernet/report")}
    inputs = toy.inputs(supernet=toy.path("supernet/weights"), **reports)
    arguments = (
        inputs,
        [subnetwork],
        toy.path("evaluation"),
        "r",
        AUGMENT,
        {},
        torch.device("cpu"),
    )
    evaluate_supernet(*arguments)
    first = (toy.folder / "evaluation").read_bytes()
    evaluate_supernet(*arguments)
    assert (toy.folder / "evaluation").read_bytes() == first
    supernet, pruned = json.loads(first)["results"]
    assert (supernet["stage"], supernet["ratio"], pruned["ratio"]) == ("supernet", 1, 4.0)
    assert pruned["metrics"]["test_accuracy"] > 80
    reported = json.loads((toy.folder / "finetune" / "report").read_text())["metrics"]
    for name, value in reported.items():
        assert pruned["metrics"][name] == value
    assert pruned["sizes"]["kept_encoder_weights"] == 84
    assert set(pruned["consistency"]) == {"feat"}
    assert supernet["consistency"] != pruned["consistency"]


def test_evaluate_dense_stage(tmp_path):
    toy = Toy(tmp_path / "toy")
    toy.initialise()
    toy.finetune("dense", dense=True)
    inputs = toy.inputs(weights=toy.path("dense/weights"))
    evaluate_dense(inputs, toy.path("evaluation"), "r", {}, torch.device("cpu"))
    (result,) = json.loads((toy.folder / "evaluation").read_text())["results"]
    assert result["stage"] == "dense" and result["sizes"]["members"] == 3
    assert result["metrics"]["test_balanced_accuracy"] > 80

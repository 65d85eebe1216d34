"""Metrics, consistency and sizes, against scikit-learn and by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, balanced_accuracy_score, cohen_kappa_score
from torch import nn
from toy_run import Toy

from iunet.artifacts import read_json, write_arrays, write_json
from iunet.data.load import Part
from iunet.errors import UserError
from iunet.evaluation.choice import choose, write_choice
from iunet.evaluation.consistency import cohens_kappa, consistency
from iunet.evaluation.locality import selectivity
from iunet.evaluation.sizes import sizes
from iunet.method.masks import read_masks
from iunet.networks.network import NetworkSpec, initialise
from iunet.scoring.metrics import classification_metrics
from iunet.training import loop
from iunet.training.loop import set_batchnorm_statistics


@pytest.mark.filterwarnings("ignore::UserWarning:sklearn")
@settings(deadline=None, max_examples=80)
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
    assert found["negate"] == {"same": 25.0, "distinct_labels": 2, "kappa": -0.5}
    assert found["nothing"] == {"same": 100.0, "distinct_labels": 2, "kappa": 1.0}


@pytest.mark.parametrize("n_labels", [2, 3, 10])
def test_kappa_is_scikit_learns(n_labels):
    draw = np.random.default_rng(0)
    for same in (0.0, 0.5, 0.99, 1.0) * 5:
        shares = draw.dirichlet(np.full(n_labels, 0.3))
        one = draw.choice(n_labels, 50, p=shares)
        other = np.where(draw.random(50) < same, one, draw.choice(n_labels, 50, p=shares))
        ours = cohens_kappa(torch.from_numpy(one), torch.from_numpy(other))
        if len({*one, *other}) == 1:
            assert ours is None
        else:
            assert ours == pytest.approx(cohen_kappa_score(one, other), abs=1e-12)


def test_kappa_of_predictors_that_hardly_vary():
    """One label 99.9 % of the time: two distinct labels, 99.8 % the same, and no agreement."""
    one, other = torch.zeros(2, 1000, dtype=torch.long)
    assert cohens_kappa(one, other) is None
    one[0] = other[1] = 1
    assert cohens_kappa(one, other) == pytest.approx(-0.001, abs=1e-4)
    other[:2] = torch.tensor([1, 0])
    assert cohens_kappa(one, other) == 1.0
    assert cohens_kappa(torch.zeros(9, dtype=torch.long), torch.ones(9, dtype=torch.long)) == 0.0


def test_constant_predictor_is_consistent_with_one_label():
    network = nn.Sequential(nn.Linear(1, 3))
    network[0].weight.data.zero_()
    part = Part(torch.randn(5, 1), torch.zeros(5))
    found = consistency(network, PlainInputs(), part, part, {"negate": None, "nothing": None})
    assert found["negate"] == {"same": 100.0, "distinct_labels": 1, "kappa": None}


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


def test_batchnorm_statistics_are_the_average_of_all_batches(monkeypatch):
    monkeypatch.setattr(loop, "EVALUATION_BATCH", 25)
    network = initialise(
        NetworkSpec("mlp_tab", 3, n_inputs=4, options={"width": 8, "depth": 1}), "torch_default", 0
    )
    raw = torch.randn(100, 4)
    set_batchnorm_statistics(network, PlainInputs(), Part(raw, torch.zeros(100)))
    mean = (raw @ network.encoder[0].weight.T).mean(dim=0)
    assert torch.allclose(network.encoder[1].running_mean, mean, atol=1e-5)


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
    masks = {"encoder.0.weight": np.arange(32) < 10, "encoder.3.weight": np.arange(64) < 6}
    found = sizes(spec, masks, members=3)
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
    sides = [16, 8, 8, 4, 4, 2, 2, 1]
    channels = [3, 1, 2, 2, 4, 4, 8, 8, 16]
    convolutions = sum(
        9 * a * b * side**2 for a, b, side in zip(channels, channels[1:], sides, strict=False)
    )
    assert sizes(spec, {}, 1)["flops_dense"] == 2 * (convolutions + 16 * 64 + 64 * 3)


def candidate(name: str, mean: float | None, failed: str | None = None) -> dict:
    supernet, _, cut = name.rpartition("/")
    facts = {"supernet": supernet, "cut": cut, "mean": mean, "failed": failed}
    l1 = float(supernet.partition("lasso")[2] or 0) or None
    ratio = None if cut == "survivors" else float(cut.removeprefix("ratio"))
    return {**facts, "ratio": ratio, "l1": l1}


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
    labels = np.repeat([0, 1], 10)
    write_arrays(tmp_path / "valid", {"labels": labels})

    def fine_tuned(name: str, right: int, failed: str | None = None) -> str:
        """The path of both files; `right` of 20 predictions are right."""
        write_json(tmp_path / f"{name}.report", {"failed": failed})
        predicted = np.where(np.arange(20) < right, labels, 1 - labels)
        write_arrays(tmp_path / f"{name}.labels", {} if failed else {"predicted": predicted})
        return str(tmp_path / name)

    def of(cut: str, *names: str) -> dict:
        reports, predictions = (
            {seed: f"{name}.{ending}" for seed, name in enumerate(names)}
            for ending in ("report", "labels")
        )
        candidate = {"supernet": "s", "cut": cut, "ratio": float(cut.removeprefix("ratio"))}
        return candidate | {"l1": None, "reports": reports, "predictions": predictions}

    candidates = [
        of("ratio2", fine_tuned("a", 16), fine_tuned("b", 18)),
        of("ratio4", fine_tuned("c", 20), fine_tuned("d", 0, failed="died")),
    ]
    facts = {"dataset": "wine", "network": "mlp_tab", "method": "omp"}

    def chosen(*among: dict, metric: str = "accuracy") -> dict:
        write_choice(list(among), tmp_path / "valid", metric, facts, tmp_path / "out")
        return read_json(tmp_path / "out")

    content = chosen(*candidates)
    assert content["metric"] == "valid_accuracy" and facts.items() <= content.items()
    assert content["chosen"] == {"supernet": "s", "cut": "ratio2", "ratio": 2.0}
    assert content["candidates"][0]["per_seed"] == {"0": 80.0, "1": 90.0}
    assert content["candidates"][0]["mean"] == 85.0
    assert content["candidates"][1]["failed"] == "died (seed 1)"
    assert chosen(candidates[1])["chosen"] is None
    # Of the second class 6 and 8 of 10 are right; the swapped metric divides by what is predicted.
    swapped = chosen(candidates[0], metric="swapped_balanced_accuracy")["candidates"][0]
    assert swapped["per_seed"]["0"] == pytest.approx(100 * (10 / 14 + 1) / 2)
    write_arrays(tmp_path / "a.labels", {"predicted": labels[:9]})
    with pytest.raises(UserError, match="has 9 predictions, but there are 20 validation rows"):
        chosen(*candidates)


# ---- the stages


def test_evaluate_stages(tmp_path):
    toy = Toy(tmp_path / "toy")
    toy.initialise()
    toy.supernet()
    toy.prune(4)
    toy.finetune()
    toy.finetune("dense", dense=True, first_cycle_epochs=1)
    supernet, pruned = toy.evaluate("supernet"), toy.evaluate()
    assert (supernet["stage"], supernet["ratio"]) == ("supernet", 1)
    assert (pruned["stage"], pruned["ratio"]) == ("subnetwork", 4.0)
    assert (pruned["dataset"], pruned["seed"], pruned["failed"]) == ("toy", 0, None)
    assert pruned["metrics"]["test_accuracy"] > 80
    assert pruned["sizes"]["kept_encoder_weights"] == 84
    assert set(pruned["consistency"]) == {"feat"}
    assert supernet["consistency"] != pruned["consistency"]
    files = toy.mask_files()
    first_mask = next(iter(read_masks(files["mask"], files["mask_report"]).values()))
    own = selectivity(first_mask, [[i] for i in range(5)])
    assert pruned["first_layer_mask"]["value"] == own["value"] == first_mask.sum(axis=1).mean()
    for of in ("supernet", "finetune"):
        first = (toy.folder / f"evaluation-{of}").read_bytes()
        toy.evaluate(of)
        assert (toy.folder / f"evaluation-{of}").read_bytes() == first
    dense = toy.evaluate("dense")
    assert dense["stage"] == "dense" and dense["sizes"]["members"] == 3
    assert dense["metrics"]["test_balanced_accuracy"] > 80

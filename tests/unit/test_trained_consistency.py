"""Consistency of trained networks against slow loops, in reports, frames and tables 3 and 5."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from run_frames import run, table_of
from sklearn.metrics import accuracy_score, cohen_kappa_score

from iunet.artifacts import read_arrays, read_json, read_tensors, write_arrays, write_json
from iunet.data.load import Part, make_inputs
from iunet.data.preprocess import Numeric, Preprocessing
from iunet.errors import UserError
from iunet.evaluation import consistency as module
from iunet.evaluation.consistency import consistency_of_members, mean_consistency
from iunet.evaluation.evaluate import evaluate_dense, evaluate_subnetwork, evaluate_supernet
from iunet.method.masks import mask_report, pack_masks
from iunet.networks.network import NetworkSpec, build_network, initialise, state_tensors
from iunet.scoring.prediction import mean_softmax
from iunet.tables.render.view import agreement
from iunet.training.initial import FRESH, write_initial
from iunet.training.loop import set_batchnorm_statistics, stream
from iunet.training.members import write_members

CPU = torch.device("cpu")
TABLE = NetworkSpec("mlp_tab", 4, n_inputs=6, options={"width": 8, "depth": 2})
IMAGES = NetworkSpec("cnn", 4, side=16, options={"alpha": 1})
CORRUPTION = {"corruption": 0.6}
SIMCLR = {
    "resize": {"scale": [0.08, 1.0], "ratio": [0.75, 1.3333333333333333]},
    "horiz": {"p": 0.5},
    "color": {"p": 0.8, "brightness": 0.4, "contrast": 0.4, "saturation": 0.4, "hue": 0.1},
    "graysc": {"p": 0.2},
}


def trained_state(spec: NetworkSpec, seed: int) -> dict[str, torch.Tensor]:
    """A network with BatchNorm statistics of its own, as after a training."""
    torch.manual_seed(seed)
    network = build_network(spec)
    for norm in network.modules():
        if hasattr(norm, "running_mean"):
            norm.momentum = 1.0
    with torch.no_grad():
        network(torch.randn(64, *spec.input_shape()) + seed / 10)
    network.decoder.weight.data *= 5  # so that members disagree
    return {name: tensor.clone() for name, tensor in state_tensors(network).items()}


def tabular_preprocessing() -> dict:
    columns = [Numeric(f"x{i}", 0.0, 0.0, 1.0) for i in range(6)]
    return {"kind": "tabular", **Preprocessing(columns, [], []).to_json()}


def data_of(spec: NetworkSpec):
    """Test rows and the way to inputs."""
    generator = torch.Generator().manual_seed(5)
    if spec is TABLE:
        raw = torch.randn(50, 6, generator=generator)
        part = Part(raw, torch.zeros(50, dtype=torch.long))
        return part, make_inputs(tabular_preprocessing(), CPU, CORRUPTION, part)
    coarse = torch.rand(50, 3, 4, 4, generator=generator)  # smooth: crops change what is seen
    raw = (255 * torch.nn.functional.interpolate(coarse, 16)).to(torch.uint8)
    preprocessing = {"kind": "vision", "mean": [0.5] * 3, "std": [0.25] * 3}
    part = Part(raw, torch.zeros(50, dtype=torch.long))
    return part, make_inputs(preprocessing, CPU, SIMCLR, part)


def draws(inputs) -> dict[str, torch.Generator]:
    return {name: stream(3, f"consistency/{name}", CPU) for name in inputs.single_transforms()}


@torch.no_grad()
def label_of(spec: NetworkSpec, members, x: torch.Tensor) -> int:
    """Of one input: every member a network of its own, the probabilities added up in Python."""
    total = [0.0] * spec.n_classes
    for member in members:
        network = build_network(spec)
        network.load_state_dict(member)
        logits = network.eval()(x[None])[0].double().tolist()
        weights = [float(np.exp(logit)) for logit in logits]
        total = [t + w / sum(weights) for t, w in zip(total, weights, strict=True)]
    return total.index(max(total))


def slow_consistency(spec, members, part, inputs, batch):
    result = {}
    plain = [label_of(spec, members, inputs.prepare(raw[None])[0]) for raw in part.raw]
    for name, transform in inputs.single_transforms().items():
        generator = draws(inputs)[name]
        chunks = [transform(chunk, generator) for chunk in part.raw.split(batch)]
        moved = [label_of(spec, members, x) for x in torch.cat(chunks)]
        same = sum(a == b for a, b in zip(plain, moved, strict=True))
        result[name] = {
            "same": pytest.approx(100 * same / len(plain)),
            "distinct_labels": len(set(plain)),
            "kappa": pytest.approx(cohen_kappa_score(plain, moved), abs=1e-12),
        }
    return result


@pytest.mark.parametrize(
    ("spec", "n_members"), [(TABLE, 1), (TABLE, 3), (IMAGES, 2)], ids=["one", "three", "images"]
)
def test_an_ensemble_is_as_consistent_as_a_loop_says(spec, n_members, monkeypatch):
    monkeypatch.setattr(module, "EVALUATION_BATCH", 16)  # several batches, one of them smaller
    part, inputs = data_of(spec)
    members = [trained_state(spec, seed) for seed in range(n_members)]
    kept = [{name: t.clone() for name, t in member.items()} for member in members]
    network = build_network(spec)
    plain = mean_softmax(network, members, inputs, part).argmax(dim=1)
    found = consistency_of_members(network, members, inputs, part, plain, draws(inputs))
    assert found == slow_consistency(spec, members, part, inputs, 16)
    assert all(entry["distinct_labels"] > 2 for entry in found.values())
    assert min(entry["same"] for entry in found.values()) < 90  # there is something to count
    for member, before in zip(members, kept, strict=True):  # BatchNorm's statistics among them
        assert all(torch.equal(member[name], before[name]) for name in before)


# ---- reports


@pytest.fixture
def files(tmp_path):
    """A split table and θ†, as inputs of an evaluation."""
    draw = np.random.default_rng(0)
    for part, n in {"train": 60, "valid": 20, "test": 50}.items():
        arrays = {
            "numeric": draw.normal(size=(n, 6)).astype(np.float32),
            "categorical": np.zeros((n, 0), np.int32),
            "labels": np.arange(n) % 4,
        }
        write_arrays(tmp_path / f"{part}.safetensors", arrays)
    write_json(tmp_path / "preprocessing.json", tabular_preprocessing())
    write_json(tmp_path / "split.json", {"dataset": "toy", "n_classes": 4, "n_inputs": 6})
    names = {"weights": "initial.safetensors", "description": "initial.json"}
    output = {key: str(tmp_path / name) for key, name in names.items()}
    settings = {"name": "mlp_tab", "options": {"width": 8, "depth": 2}}
    write_initial(str(tmp_path / "split.json"), output, settings, "torch_default", 3)
    inputs = {part: str(tmp_path / f"{part}.safetensors") for part in ("train", "valid", "test")}
    inputs |= {"preprocessing": str(tmp_path / "preprocessing.json")}
    return inputs | {"initial": output["weights"], "description": output["description"]}


def loop_on_files(files, members):
    arrays = {part: read_numeric(files[part]) for part in ("train", "test")}
    train, test = (Part(a, torch.zeros(len(a), dtype=torch.long)) for a in arrays.values())
    inputs = make_inputs(tabular_preprocessing(), CPU, CORRUPTION, train)
    return slow_consistency(TABLE, members, test, inputs, 1024)


def read_numeric(path) -> torch.Tensor:
    from safetensors.torch import load_file

    return load_file(path)["numeric"]


def test_the_report_of_a_dense_ensemble(files, tmp_path):
    members = [trained_state(TABLE, seed) for seed in range(3)]
    write_members(tmp_path / "network.safetensors", members, {})
    inputs = files | {"weights": str(tmp_path / "network.safetensors")}
    evaluate_dense(inputs, str(tmp_path / "evaluation.json"), "r", CORRUPTION, CPU)
    report = read_json(tmp_path / "evaluation.json")
    assert report["trained_consistency"] == loop_on_files(files, members)
    assert "consistency" not in report


@pytest.mark.parametrize("with_decoder", [False, True])
def test_the_report_of_a_supernet(files, tmp_path, with_decoder):
    """A decoder that was trained takes the place of the supernet's; θ† is beside it."""
    supernet = trained_state(TABLE, 0)
    write_arrays(tmp_path / "supernet.safetensors", {k: t.numpy() for k, t in supernet.items()})
    write_json(tmp_path / "supernet.json", {"failed": None})
    inputs = files | {"supernet": str(tmp_path / "supernet.safetensors")}
    inputs |= {"supernet_report": str(tmp_path / "supernet.json")}
    members = [supernet]
    if with_decoder:
        own = ("decoder.weight", "decoder.bias")
        decoders = [{name: trained_state(TABLE, seed)[name] for name in own} for seed in (1, 2)]
        write_members(tmp_path / "decoder.safetensors", decoders, {})
        inputs |= {"decoder": str(tmp_path / "decoder.safetensors")}
        members = [supernet | decoder for decoder in decoders]
    evaluate_supernet(inputs, str(tmp_path / "evaluation.json"), "r", CORRUPTION, CPU)
    report = read_json(tmp_path / "evaluation.json")
    assert report["trained_consistency"] == loop_on_files(files, members)
    assert set(report["consistency"]) == {"feat"}
    assert report["consistency"] != report["trained_consistency"]
    says = "trained on the frozen encoder" if with_decoder else "its own"
    assert (report["decoder"], report["sizes"]["members"]) == (says, len(members))


def test_the_report_of_a_subnetwork(files, tmp_path):
    """Metrics are the ensemble's on each part; the consistency beside them is of mask ⊙ θ†."""
    name = "encoder.0.weight"
    mask = np.random.default_rng(1).random((8, 6)) < 0.5
    masks = {name: mask, "encoder.3.weight": np.ones((8, 8), bool)}
    members = [trained_state(TABLE, seed) for seed in range(3)]
    for member in members:
        member[name] *= torch.from_numpy(mask)
    write_members(tmp_path / "subnetwork.safetensors", members, masks)
    write_arrays(tmp_path / "mask.safetensors", pack_masks(masks))
    report = mask_report(masks, masks, 1) | {"failed": None, "ratio": 2}
    write_json(tmp_path / "mask.json", report)
    inputs = files | {
        "weights": str(tmp_path / "subnetwork.safetensors"),
        "mask": str(tmp_path / "mask.safetensors"),
        "mask_report": str(tmp_path / "mask.json"),
    }
    evaluate_subnetwork(inputs, str(tmp_path / "evaluation.json"), "r", CORRUPTION, CPU)
    found = read_json(tmp_path / "evaluation.json")
    for part in ("valid", "test"):
        x, labels = read_numeric(files[part]), read_arrays(files[part])["labels"]
        scores = [100 * accuracy_score(labels, predicted) for predicted in votes(members, x)]
        assert found["metrics"][f"{part}_accuracy"] == pytest.approx(scores[0])
        assert scores[1] != pytest.approx(scores[0])  # the last member alone is another predictor
    assert found["trained_consistency"] == loop_on_files(files, members)
    train = read_numeric(files["train"])

    def slow_untrained(weights) -> dict[str, float]:
        untrained = build_network(TABLE)
        untrained.load_state_dict(weights)
        untrained.encoder[0].weight.data *= torch.from_numpy(mask)
        inputs = make_inputs(tabular_preprocessing(), CPU)
        set_batchnorm_statistics(untrained, inputs, Part(train, torch.zeros(len(train))))
        (entry,) = loop_on_files(files, [untrained.state_dict()]).values()
        return entry

    own = slow_untrained(read_tensors(files["initial"]))
    assert found["consistency"] == {"feat": own}
    assert found["consistency"] != found["trained_consistency"]
    seeds = (3 + draw * FRESH for draw in (1, 2, 3))
    fresh = [slow_untrained(initialise(TABLE, "torch_default", s).state_dict()) for s in seeds]
    means = {key: np.mean([expected_value(e[key]) for e in fresh]) for key in own}
    assert found["fresh_consistency"] == {"feat": pytest.approx(means)}
    assert means["same"] != own["same"]


def expected_value(value) -> float:
    """Of what `slow_consistency` expects, approximately or not."""
    return getattr(value, "expected", value)


def test_the_mean_of_several_draws_leaves_out_constant_predictors():
    draws = [
        {"feat": {"same": 100.0, "distinct_labels": 1, "kappa": None}},
        {"feat": {"same": 70.0, "distinct_labels": 2, "kappa": 0.25}},
    ]
    assert mean_consistency(draws) == {
        "feat": {"same": 85.0, "distinct_labels": 1.5, "kappa": 0.25}
    }
    assert mean_consistency(draws[:1])["feat"]["kappa"] is None


def votes(members, x) -> list[list[int]]:
    """The labels of the ensemble, and of its last member."""
    return [[label_of(TABLE, some, row) for row in x] for some in (members, members[-1:])]


# ---- the table


def network(method, stage, seed, trained, untrained=None, **facts):
    """A run under one transform: (share that stays the same, labels, kappa)."""
    place = {"supernet": "kappa0.25-ilo", "cut": "ratio8" if stage == "subnetwork" else None}
    place |= {"stage": stage, "chosen": True if stage == "subnetwork" else None}
    for section, values in (("trained_consistency", trained), ("consistency", untrained)):
        names = [f"{section}_resize_{m}" for m in ("same", "distinct_labels", "kappa")]
        place |= dict(zip(names, values or (), strict=False))
    return run("cifar10", "mlp_vis", method, seed, **(place | facts))


def networks(seed, **iunet):
    own = {"disconnected": True} | iunet
    return [
        network("dense", "dense", seed, (50.0 + seed, 9, 0.5)),
        network("iunet", "supernet", seed, (45.0 + seed, 10, 0.5), (70.0 + seed, 10, 0.5)),
        network("iunet", "subnetwork", seed, (60.0 + seed, 8, 0.25 + seed / 2), (100.0, 1), **own),
    ]


def test_the_table_shows_both_and_compares_both():
    table = table_of("table3", *networks(0), *networks(1))
    cells = table.cells["mlp_vis/cifar10/resize"]
    means = {key: cell.values["value"].mean for key, cell in cells.items() if "labels" not in key}
    assert means == {
        "supernet": 70.5,
        "iunet": 100.0,
        "supernet_trained": 45.5,
        "dense_trained": 50.5,
        "iunet_trained": 60.5,
    }
    assert cells["iunet_trained"].values["kappa"].mean == 0.5
    assert cells["iunet"].values["kappa"].text == "constant"
    assert cells["iunet_trained_distinct_labels"].values["value"].text == "8"
    assert cells["iunet"].notes == ["disconnected (2 of 2 seeds)"]
    # Against the paper's 44.096 (supernet) and 97.349 (IUNET).
    papers = {key: cell.paper.mean for key, cell in cells.items() if cell.paper}
    assert papers == dict.fromkeys(("supernet", "supernet_trained", "dense_trained"), 44.096) | {
        "iunet": 97.349,
        "iunet_trained": 97.349,
    }
    (note,) = (note for note in table.notes if "nearest" in note)
    assert "nearest to our column “Supernet, trained”" in note
    shown = (f"{value:.3f}" for value in (70.5 - 44.096, 45.5 - 44.096, 50.5 - 44.096))
    assert all(text in note for text in shown)
    bests = [key for key, cell in cells.items() if cell.values["value"].best]
    assert bests == ["iunet", "iunet_trained"]
    # Two cells have a value of the paper; the other columns repeat them.
    assert agreement(table.to_json()).total() == 2


def test_a_failed_subnetwork_leaves_the_others():
    dense, supernet, _ = networks(0)
    dead = network("iunet", "subnetwork", 0, None, failed="every weight died")
    cells = table_of("table3", dense, supernet, dead).cells["mlp_vis/cifar10/resize"]
    assert cells["iunet"].missing == cells["iunet_trained"].missing == "every weight died"
    assert cells["supernet_trained"].values["value"].mean == 45.0


def test_a_network_without_transforms_is_refused():
    with pytest.raises(UserError, match="has no trained_consistency"):
        table_of("table3", *networks(0, trained_consistency_resize_same=None))

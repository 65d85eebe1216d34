"""The training loop against an obvious one, and what its two stages hand to it."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from toy_run import FINETUNE, SUPERNET, Toy

from iunet.artifacts import read_arrays, read_tensors
from iunet.data.load import TrainingData, load_part, make_inputs
from iunet.method.augment import scarf
from iunet.networks.network import NetworkSpec, build_network, initialise, scaled_weights
from iunet.training import finetune, supernet
from iunet.training.finetune import FinetuneSettings, fit_subnetwork, make_optimiser
from iunet.training.initial import FRESH, fresh_weights
from iunet.training.loop import stream
from iunet.training.members import split_members
from iunet.training.schedule import schedule_of

CPU = torch.device("cpu")
TOY_NETWORK = NetworkSpec("mlp_tab", 3, n_inputs=5, options={"width": 16, "depth": 2})


@pytest.fixture
def toy(tmp_path):
    torch.set_num_threads(1)
    toy = Toy(tmp_path / "toy", n_train=34)  # batches of 16, 16 and 2
    toy.initialise()
    return toy


def test_the_loop_is_the_obvious_one(toy):
    """Every batch in its order, the mask after every step, the rate at every step."""
    changes = {"first_cycle_epochs": 2, "cycles": 1, "weight_decay": 0.1}
    settings = FinetuneSettings(**FINETUNE | changes)
    data = load_part(toy.path("train.safetensors"), CPU)
    start = read_tensors(toy.path("initial/weights"))
    mask = (torch.rand(16, 5, generator=torch.Generator().manual_seed(0)) < 0.5).float()
    start["encoder.0.weight"] = start["encoder.0.weight"] * mask
    inputs = make_inputs(json.loads((toy.folder / "preprocessing.json").read_text()), CPU)
    fitted = fit_subnetwork(
        build_network(TOY_NETWORK),
        start,
        {"encoder.0.weight": mask},
        TrainingData(data, inputs),
        settings,
    )
    network = build_network(TOY_NETWORK)
    network.load_state_dict(start)
    optimiser = torch.optim.AdamW(network.parameters(), weight_decay=0.1, fused=True)
    order = stream(0, "finetune/order", CPU)
    rate = schedule_of(vars(settings))
    for epoch in range(2):
        rows = torch.randperm(34, generator=order)
        total = 0.0
        for step, batch in enumerate((rows[:16], rows[16:32], rows[32:])):
            optimiser.param_groups[0]["lr"] = rate.lr_at(epoch + step / 3)
            optimiser.zero_grad()
            loss = torch.nn.functional.cross_entropy(network(data.raw[batch]), data.labels[batch])
            loss.backward()
            optimiser.step()
            network.encoder[0].weight.data *= mask
            total += loss.item() * len(batch)
        assert fitted.trained.history[epoch]["loss"] == pytest.approx(total / 34, rel=1e-6)
    (member,) = fitted.members
    for name, tensor in network.state_dict().items():
        assert torch.equal(member[name], tensor), name


def test_the_supernet_starts_from_kappa_times_the_initial_weights(toy):
    """Of Linear layers alone, the decoder's among them; BatchNorm and biases are those of θ†."""
    folder = toy.supernet(epochs=1, lr=1e-30, objective="sup", momentum=0.0, nesterov=False)
    trained, initial = read_arrays(folder / "weights"), read_arrays(toy.path("initial/weights"))
    scaled = scaled_weights(build_network(TOY_NETWORK))
    assert "decoder.weight" in scaled
    for name, weights in initial.items():
        if "running" not in name and "num_batches" not in name:
            expected = 0.25 * weights if name in scaled else weights
            assert np.abs(trained[name] - expected).max() < 1e-25, name


def test_the_supernets_rate_is_constant(toy):
    """Against torch's own SGD, which has one rate for all steps."""
    folder = toy.supernet(epochs=3, kappa=1, objective="sup")
    data = load_part(toy.path("train.safetensors"), CPU)
    network = build_network(TOY_NETWORK)
    network.load_state_dict(read_tensors(toy.path("initial/weights")))
    optimiser = torch.optim.SGD(network.parameters(), 0.05, 0.9, nesterov=True, fused=True)
    order = stream(0, "supernet/order", CPU)
    for _ in range(3):
        for batch in torch.randperm(34, generator=order).split(16):
            optimiser.zero_grad()
            loss = torch.nn.functional.cross_entropy(network(data.raw[batch]), data.labels[batch])
            loss.backward()
            optimiser.step()
    trained = read_tensors(folder / "weights")
    for name, tensor in network.state_dict().items():
        assert torch.equal(trained[name], tensor), name


def test_lambda_weighs_the_second_loss(toy):
    report = json.loads((toy.supernet(epochs=1, weight=0.25) / "report").read_text())
    (entry,) = report["history"]
    assert entry["nce"] > 0.1
    assert entry["loss"] == pytest.approx(entry["sup"] + 0.25 * entry["nce"], abs=1e-5)


def test_every_purpose_has_a_stream_of_its_own(toy, monkeypatch):
    asked = []

    def noted(seed, name, device):
        asked.append((seed, name))
        return stream(seed, name, device)

    for stage in (supernet, finetune):
        monkeypatch.setattr(stage, "stream", noted)
    toy.supernet(epochs=1)
    toy.finetune(dense=True, cycles=1)
    supernets, finetunings = ["supernet/order", "supernet/g"], ["finetune/order"]
    assert asked == [(0, name) for name in supernets + finetunings]
    toy.finetune(dense=True, cycles=1, augment={"corruption": 0.6})
    assert asked[3:] == [(0, "finetune/order"), (0, "finetune/g")]


def test_an_augmented_fine_tuning_sees_transformed_rows_and_no_others(toy, monkeypatch):
    """Fresh draws in every step, from their own stream: the order of the rows stays as it was."""
    seen = []
    original = finetune.supervised_loss

    def noted(logits, labels, *weights):
        seen.append(labels.tolist())
        return original(logits, labels, *weights)

    monkeypatch.setattr(finetune, "supervised_loss", noted)
    plain = toy.finetune("plain", dense=True, cycles=1)
    orders, seen[:] = list(seen), []
    folder = toy.finetune("augmented", dense=True, cycles=1, augment={"corruption": 0.6})
    assert seen == orders
    assert (folder / "weights").read_bytes() != (plain / "weights").read_bytes()

    data = load_part(toy.path("train.safetensors"), CPU)
    settings = FinetuneSettings(**FINETUNE | {"cycles": 1})
    network = build_network(TOY_NETWORK)
    network.load_state_dict(read_tensors(toy.path("initial/weights")))
    optimiser = make_optimiser(network, settings)
    order, g = (stream(0, f"finetune/{name}", CPU) for name in ("order", "g"))
    rate = schedule_of(vars(settings))
    for epoch in range(2):
        for step, batch in enumerate(torch.randperm(34, generator=order).split(16)):
            optimiser.param_groups[0]["lr"] = rate.lr_at(epoch + step / 3)
            optimiser.zero_grad()
            x = scarf(data.raw[batch], data.raw, 0.6, g)
            torch.nn.functional.cross_entropy(network(x), data.labels[batch]).backward()
            optimiser.step()
    (member,) = split_members(read_tensors(folder / "weights"))
    for name, tensor in network.state_dict().items():
        assert torch.equal(member[name], tensor), name


def test_weight_decay_is_decoupled():
    """Without a gradient a weight shrinks by rate times decay, whatever Adam's moments are."""
    network = build_network(TOY_NETWORK)
    before = network.decoder.weight.detach().clone()
    optimiser = make_optimiser(network, FinetuneSettings(**FINETUNE))
    for parameter in network.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimiser.step()
    assert torch.allclose(network.decoder.weight, before * (1 - 0.01 * 0.01), rtol=0, atol=1e-8)


def test_fresh_weights_are_drawn_like_the_initial_ones_and_are_others(toy):
    fixed = {"optimiser": "sgd", "cycles": 0, "epochs": 1, "lr": 1e-30, "weight_decay": 0.0}
    folder = toy.finetune("fresh", dense=True, reinit="fresh", **fixed)
    (member,) = split_members(read_arrays(folder / "weights"))
    drawn = initialise(TOY_NETWORK, "torch_default", SUPERNET["seed"] + FRESH).state_dict()
    initial = read_arrays(toy.path("initial/weights"))
    for name in scaled_weights(build_network(TOY_NETWORK)):
        assert np.allclose(member[name], drawn[name].numpy(), atol=1e-25)
        assert np.abs(member[name] - initial[name]).max() > 0.1


def test_fresh_weights_follow_the_init_of_the_run():
    facts = {"network": TOY_NETWORK.to_json(), "init": "he_normal", "seed": 5}
    for draw in (1, 2):
        drawn = fresh_weights(facts, CPU, draw)
        expected = initialise(TOY_NETWORK, "he_normal", 5 + draw * FRESH).state_dict()
        assert all(torch.equal(drawn[name], expected[name]) for name in expected)

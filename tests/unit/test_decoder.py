"""A decoder trained on a frozen encoder: the encoder's bits, a slow version, and who gets one."""

from __future__ import annotations

import pytest
import torch
import yaml
from torch import nn

from iunet.data.load import Part, TrainingData
from iunet.networks.network import NetworkSpec, build_network, state_tensors
from iunet.runs import settings as run_settings
from iunet.scoring.prediction import accuracy
from iunet.training.decoder import fit_decoder
from iunet.training.finetune import FinetuneSettings
from iunet.training.loop import batches, stream
from iunet.training.schedule import schedule_of

CPU = torch.device("cpu")
TOY = NetworkSpec("mlp_tab", 3, n_inputs=5, options={"width": 16, "depth": 2})
SGD = FinetuneSettings("sgd", 0.05, 16, 0, epochs=4, momentum=0.9, nesterov=True)
ADAMW = FinetuneSettings(
    "adamw",
    0.01,
    16,
    0,
    weight_decay=0.01,
    first_cycle_epochs=1,
    cycle_factor=2,
    cycles=3,
    snapshot_ensemble=True,
)


class Plain:
    def prepare(self, raw):
        return raw


@pytest.fixture
def data() -> TrainingData:
    """Three clouds; 70 rows, so that the last batch is smaller."""
    generator = torch.Generator().manual_seed(0)
    centres = 2 * torch.randn(3, 5, generator=generator)

    def part(n):
        labels = torch.arange(n) % 3
        return Part(centres[labels] + torch.randn(n, 5, generator=generator), labels)

    return TrainingData(part(70), Plain(), part(30))


@pytest.fixture
def supernet(data) -> dict[str, torch.Tensor]:
    """A network whose BatchNorm has seen some rows."""
    torch.manual_seed(1)
    network = build_network(TOY)
    for _ in range(5):
        network(data.train.raw)
    return {name: tensor.clone() for name, tensor in state_tensors(network).items()}


@pytest.mark.parametrize("settings", [SGD, ADAMW], ids=["sgd", "adamw"])
def test_the_encoder_keeps_its_bits(data, supernet, settings):
    network = build_network(TOY)
    fitted = fit_decoder(network, supernet, data, settings)
    encoder = {k: t for k, t in state_tensors(network).items() if k.startswith("encoder.")}
    assert len(encoder) == len(supernet) - 2
    assert all(torch.equal(tensor, supernet[name]) for name, tensor in encoder.items())
    assert len(fitted.members) == (3 if settings is ADAMW else 1)
    for member in fitted.members:
        assert set(member) == {"decoder.weight", "decoder.bias"}
        assert not torch.equal(member["decoder.weight"], supernet["decoder.weight"])
    before = build_network(TOY)
    before.load_state_dict(supernet)
    network.load_state_dict(supernet | fitted.members[-1])
    better = accuracy(network, Plain(), data.valid), accuracy(before, Plain(), data.valid)
    assert better[0] > better[1] and better[0] > 80


@pytest.mark.parametrize("settings", [SGD, ADAMW], ids=["sgd", "adamw"])
def test_it_is_the_whole_network_with_the_encoder_frozen(data, supernet, settings):
    """The same by passing every batch through the whole network in eval mode."""
    fitted = fit_decoder(build_network(TOY), supernet, data, settings)
    network = build_network(TOY)
    network.load_state_dict(supernet)
    network.eval()
    weights = network.decoder.parameters()
    if settings is SGD:
        optimiser = torch.optim.SGD(weights, lr=0.05, momentum=0.9, nesterov=True)
    else:
        optimiser = torch.optim.AdamW(weights, lr=0.01, weight_decay=0.01)
    order = stream(0, "finetune/order", CPU)
    members = []
    schedule = schedule_of(vars(settings))
    for epoch in range(schedule.epochs):
        rows_of_epoch = list(batches(len(data.train), 16, order))
        for i, rows in enumerate(rows_of_epoch):
            if settings is ADAMW:
                rate = schedule.lr_at(epoch + i / len(rows_of_epoch))
                optimiser.param_groups[0]["lr"] = rate
            optimiser.zero_grad()
            loss = nn.functional.cross_entropy(
                network(data.train.raw[rows]), data.train.labels[rows]
            )
            loss.backward()
            optimiser.step()
        if epoch + 1 in schedule.member_epochs(settings.snapshot_ensemble):
            members.append({k: t.clone() for k, t in state_tensors(network.decoder).items()})
    for ours, slow in zip(fitted.members, members, strict=True):
        for name, tensor in slow.items():
            assert torch.allclose(ours[f"decoder.{name}"], tensor, atol=1e-5), name


@pytest.mark.parametrize(
    ("supernet", "trains"),
    [
        ("kappa1-scl", False),
        ("kappa0.25-scl-epochs5", False),
        ("kappa1-sup", True),
        ("kappa0.25-ilo", True),
        ("kappa1-lasso0.00001", True),
    ],
)
def test_which_supernets_have_a_decoder_of_their_own(supernet, trains):
    assert run_settings.trains_decoder(supernet) is trains


def test_its_recipe_is_that_of_fine_tuning(request):
    config = yaml.safe_load((request.config.rootpath / "config" / "config.yaml").read_text())

    class Point:
        network, supernet, seed = "mlp_vis", "kappa1-scl", "1"

    decoder = run_settings.finetune_settings(config, Point)
    assert schedule_of(decoder).epochs == 100

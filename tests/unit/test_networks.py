"""Networks against their definitions: containment, PIS, the two views."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import nn

from iunet.errors import UserError
from iunet.method.objectives import Batch, invariance, supervised
from iunet.method.pis import proactive_initialisation
from iunet.networks.batchnorm import two_views
from iunet.networks.cnn import output_shapes
from iunet.networks.mlp_vis import mlp_vis_widths
from iunet.networks.network import (
    Convolutional,
    NetworkSpec,
    build_network,
    encoder_weights,
    initialise,
    scaled_weights,
)

SPECS = {
    "mlp_tab": NetworkSpec("mlp_tab", 4, n_inputs=7, options={"width": 16, "depth": 3}),
    "mlp_vis": NetworkSpec("mlp_vis", 4, side=16, options={"alpha": 1}),
    "cnn": NetworkSpec("cnn", 4, side=16, options={"alpha": 1}),
    "resnet18": NetworkSpec("resnet18", 4, side=16, options={"width": 0.0625}),
}


def example(spec: NetworkSpec, count: int = 6, dtype=torch.float32) -> torch.Tensor:
    shape = (spec.n_inputs,) if spec.name == "mlp_tab" else (3, spec.side, spec.side)
    return torch.randn(count, *shape, generator=torch.Generator().manual_seed(1)).to(dtype)


def test_mlp_vis_has_the_papers_size():
    assert mlp_vis_widths(8, 32) == [8192, 4096, 4096, 2048, 2048, 1024, 1024, 512, 512]
    widths = [3072, *mlp_vis_widths(8, 32)]
    assert sum(a * b for a, b in pairwise(widths)) == 92_012_544


def test_mlp_tab_has_nine_hidden_layers_of_512():
    network = build_network(
        NetworkSpec("mlp_tab", 3, n_inputs=10, options={"width": 512, "depth": 9})
    )
    shapes = [tuple(weight.shape) for weight in encoder_weights(network).values()]
    assert shapes == [(512, 10)] + [(512, 512)] * 8
    assert network.decoder.bias is not None


@pytest.mark.parametrize("name", SPECS)
def test_network_is_decoder_of_encoder(name):
    network = build_network(SPECS[name]).eval()
    x = example(SPECS[name])
    assert torch.equal(network(x), network.decoder(network.encoder(x)))
    assert network(x).shape == (6, 4)
    assert (network.encoder(x) >= 0).all()  # the last ReLU's output
    biased = [m for m in network.encoder.modules() if getattr(m, "bias", None) is not None]
    assert all(isinstance(m, nn.modules.batchnorm._BatchNorm) for m in biased)


def test_unknown_network():
    with pytest.raises(UserError, match="'vgg' does not exist"):
        build_network(NetworkSpec("vgg", 3))


def unroll(kernel: torch.Tensor, side_in: int, side_out: int, stride: int) -> torch.Tensor:
    """A 3×3 convolution with padding 1 as the weights of a Linear layer, entry by entry."""
    out_channels, in_channels = kernel.shape[:2]
    weight = torch.zeros(out_channels, side_out, side_out, in_channels, side_in, side_in)
    for y in range(side_out):
        for x in range(side_out):
            for dy in range(3):
                for dx in range(3):
                    yy, xx = stride * y + dy - 1, stride * x + dx - 1
                    if 0 <= yy < side_in and 0 <= xx < side_in:
                        weight[:, y, x, :, yy, xx] = kernel[:, :, dy, dx]
    return weight.reshape(out_channels * side_out**2, in_channels * side_in**2)


@pytest.mark.parametrize(("side", "alpha"), [(16, 2), (8, 1), (32, 1)])
def test_mlp_vis_contains_the_cnn(side, alpha):
    """A random cnn, unrolled into mlp_vis weights with its BatchNorm, is the same function."""
    cnn = build_network(NetworkSpec("cnn", 5, side=side, options={"alpha": alpha}))
    mlp = build_network(NetworkSpec("mlp_vis", 5, side=side, options={"alpha": alpha}))
    cnn_layers = [m for m in cnn.encoder if not isinstance(m, (nn.ReLU, nn.Flatten))]
    mlp_layers = [m for m in mlp.encoder if not isinstance(m, (nn.ReLU, nn.Flatten))]
    for module in cnn_layers[1::2]:  # BatchNorm that does something
        nn.init.normal_(module.weight)
        nn.init.normal_(module.bias)
        module.running_mean.normal_()
        module.running_var.uniform_(0.5, 2)
    sides = [side, *(size for _, size in output_shapes(alpha, side)), 1, 1]
    with torch.no_grad():
        for i, (source, target) in enumerate(zip(cnn_layers[::2], mlp_layers[::2], strict=True)):
            if isinstance(source, nn.Conv2d):
                weight = unroll(source.weight, sides[i], sides[i + 1], source.stride[0])
            else:
                weight = source.weight
            target.weight.copy_(weight)
        for source, target in zip(cnn_layers[1::2], mlp_layers[1::2], strict=True):
            repeat = len(target.weight) // len(source.weight)  # every pixel of a channel
            for name in ("weight", "bias", "running_mean", "running_var"):
                getattr(target, name).copy_(getattr(source, name).repeat_interleave(repeat))
        mlp.decoder.load_state_dict(cnn.decoder.state_dict())
    x = torch.randn(3, 3, side, side)
    assert torch.allclose(cnn.eval()(x), mlp.eval()(x), atol=1e-4)


def test_resnet18_is_torchvisions():
    from torchvision.models import resnet18

    torch.manual_seed(3)
    theirs = resnet18(num_classes=10)
    ours = initialise(
        NetworkSpec("resnet18", 10, side=32, options={"width": 1.0}), "glorot", seed=3
    )
    assert all(map(torch.equal, theirs.parameters(), ours.parameters()))
    x = torch.randn(2, 3, 32, 32)
    x = x.contiguous(memory_format=torch.channels_last)  # the layout in which ours works
    assert torch.equal(theirs.eval()(x), ours.eval()(x))


@pytest.mark.parametrize("name", ["cnn", "resnet18"])
@pytest.mark.parametrize("objective", [supervised, invariance])
def test_channels_last_is_only_a_layout(name, objective, monkeypatch):
    """The same loss, gradients and statistics as without; every stored tensor as without."""
    spec, results = SPECS[name], []
    x, labels = example(spec, 12, torch.float64), torch.arange(12) % 4
    layouts = []
    for forward in (Convolutional.forward, nn.Sequential.forward):
        monkeypatch.setattr(Convolutional, "forward", forward)
        network = initialise(spec, "torch_default", 0).double().train()
        convolution = next(m for m in network.modules() if isinstance(m, nn.Conv2d))
        convolution.register_forward_hook(lambda _, inputs, out: layouts.append(out.stride(1)))
        loss, _ = objective(network, Batch(x, labels, lambda: x.flip(-1)))
        loss.backward()
        gradients = {f"{key} gradient": p.grad for key, p in network.named_parameters()}
        results.append({"loss": loss.detach(), **network.state_dict(), **gradients})
    ours, plain = results
    assert list(ours) == list(plain)
    for key, tensor in ours.items():
        assert torch.allclose(tensor, plain[key], rtol=1e-9, atol=1e-12), key
        assert tensor.is_contiguous(), key
    assert layouts[0] == 1 and layouts[1] > 1  # it was used, and not used


# ---- initialisation


@pytest.mark.parametrize("name", ["mlp_tab", "mlp_vis", "cnn", "resnet18"])
@pytest.mark.parametrize("kappa", [0.25, 0.0625])
def test_kappa_changes_no_output_of_a_batchnorm_encoder(name, kappa):
    """In float64 and with a tiny eps: κ acts through the effective step size alone."""
    network = build_network(SPECS[name]).double().train()
    for module in network.modules():
        if isinstance(module, nn.modules.batchnorm._BatchNorm):
            module.eps = 1e-30
    x = example(SPECS[name], count=16, dtype=torch.float64)
    before = network.encoder(x)
    names = list(scaled_weights(network))
    proactive_initialisation(dict(network.state_dict()), names, kappa)
    assert torch.allclose(before, network.encoder(x), rtol=1e-9, atol=1e-9)


def test_pis_scales_weights_and_nothing_else():
    network = build_network(SPECS["cnn"])
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    proactive_initialisation(dict(network.state_dict()), list(scaled_weights(network)), 0.25)
    for name, tensor in network.state_dict().items():
        is_norm = before[name].dim() < 2
        assert torch.equal(tensor, before[name] if is_norm else 0.25 * before[name])


def test_initial_weights_depend_on_the_seed_alone():
    spec = SPECS["mlp_tab"]
    a, b, c = (initialise(spec, "torch_default", seed).state_dict() for seed in (0, 0, 1))
    assert all(torch.equal(a[name], b[name]) for name in a)
    assert not torch.equal(a["decoder.weight"], c["decoder.weight"])


@pytest.mark.parametrize(
    ("init", "std"), [("he_normal", np.sqrt(2 / 300)), ("glorot", np.sqrt(2 / 600))]
)
def test_other_initialisations(init, std):
    spec = NetworkSpec("mlp_tab", 300, n_inputs=300, options={"width": 300, "depth": 2})
    for name, weight in scaled_weights(initialise(spec, init, 0)).items():
        assert weight.std().item() == pytest.approx(std, rel=0.02), name


# ---- two views in one forward


@pytest.mark.parametrize("name", SPECS)
def test_two_views_are_two_forwards(name):
    """Outputs of both views, and running statistics of the first alone."""
    once, twice = (initialise(SPECS[name], "torch_default", 0).double().train() for _ in range(2))
    x, x_g = example(SPECS[name], 16, torch.float64).split(8)
    with two_views(once):
        h, h_g = once.encoder(torch.cat([x, x_g])).chunk(2)
    expected_h = twice.encoder(x)
    statistics = {n: t.clone() for n, t in twice.state_dict().items() if "running" in n}
    expected_g = twice.encoder(x_g)
    assert torch.allclose(h, expected_h) and torch.allclose(h_g, expected_g)
    for key, tensor in statistics.items():
        assert torch.allclose(once.state_dict()[key], tensor)


def test_ilo_without_weight_is_sup():
    networks = [initialise(SPECS["mlp_tab"], "torch_default", 0).train() for _ in range(2)]
    x, labels = example(SPECS["mlp_tab"], 8), torch.arange(8) % 4
    for network, objective in zip(networks, (supervised, invariance), strict=True):
        loss, _ = objective(network, Batch(x, labels, lambda: torch.randn_like(x), 0.0))
        loss.backward()
    for a, b in zip(*(network.parameters() for network in networks), strict=True):
        assert torch.allclose(a.grad, b.grad, atol=1e-7)
    state = [network.state_dict() for network in networks]
    assert all(torch.allclose(state[0][name], state[1][name]) for name in state[0])


def test_views_are_ignored_in_eval_mode_and_restored():
    network = build_network(SPECS["mlp_tab"]).eval()
    x = example(SPECS["mlp_tab"], 5)  # an odd number could not be halved
    plain = network(x)
    with two_views(network):
        assert torch.equal(network(x), plain)
    assert all(getattr(module, "views", 1) == 1 for module in network.modules())

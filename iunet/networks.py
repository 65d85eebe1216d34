"""The networks (SPEC section 2): each is `decoder(encoder(x))`, the decoder the last linear layer.

Every hidden layer of `mlp_tab`, `mlp_vis` and `cnn` is Linear or Conv without bias, then BatchNorm,
then ReLU. `resnet18` is torchvision's.
"""

from __future__ import annotations

import contextlib
import math
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from iunet.errors import UserError

# The CNN's convolutions, 3×3 with padding 1: (channels as a multiple of α, stride).
CNN_CONVOLUTIONS = ((1, 1), (2, 2), (2, 1), (4, 2), (4, 1), (8, 2), (8, 1), (16, 2))
CNN_HIDDEN = 64  # units of the CNN's last hidden layer, as a multiple of α


@dataclass(frozen=True)
class NetworkSpec:
    """All that is needed to build a network; kept in every artifact that holds weights."""

    name: str  # mlp_tab, mlp_vis, cnn or resnet18
    n_classes: int
    n_inputs: int = 0  # mlp_tab: columns after one-hot expansion
    channels: int = 3  # vision
    side: int = 0  # vision: images are side × side
    alpha: int = 8  # mlp_vis, cnn: scale of the widths
    width: float = 512  # mlp_tab: units of a hidden layer; resnet18: multiplier of all channels
    depth: int = 9  # mlp_tab: hidden layers

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


class Network(nn.Module):
    """`decoder(encoder(x))`; `h = encoder(x)` is the representation of the paper."""

    def __init__(self, encoder: nn.Module, decoder: nn.Linear):
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder

    def forward(self, x: Tensor) -> Tensor:
        return self.decoder(self.encoder(x))


def build_network(spec: NetworkSpec) -> Network:
    """A freshly initialised network (PyTorch's own initialisation, torchvision's for resnet18)."""
    if spec.name == "mlp_tab":
        return _mlp(spec.n_inputs, [int(spec.width)] * spec.depth, spec.n_classes)
    if spec.name == "mlp_vis":
        n_inputs = spec.channels * spec.side**2
        return _mlp(n_inputs, mlp_vis_widths(spec.alpha, spec.side), spec.n_classes, flatten=True)
    if spec.name == "cnn":
        return _cnn(spec)
    if spec.name == "resnet18":
        return _resnet18(spec)
    raise UserError(f"There is no network '{spec.name}'; known: mlp_tab, mlp_vis, cnn, resnet18.")


def cnn_shapes(alpha: int, side: int) -> list[tuple[int, int, int]]:
    """(channels, stride, side of the output) of each convolution."""
    shapes = []
    for multiple, stride in CNN_CONVOLUTIONS:
        side = math.ceil(side / stride)
        shapes.append((multiple * alpha, stride, side))
    return shapes


def mlp_vis_widths(alpha: int, side: int) -> list[int]:
    """Hidden widths of the MLP that contains the CNN: one unit per output of each of its layers."""
    convolutions = [channels * size**2 for channels, _, size in cnn_shapes(alpha, side)]
    return [*convolutions, CNN_HIDDEN * alpha]


def _hidden(layer: nn.Module, norm: nn.Module) -> list[nn.Module]:
    return [layer, norm, nn.ReLU()]


def _mlp(n_inputs: int, widths: list[int], n_classes: int, flatten: bool = False) -> Network:
    layers: list[nn.Module] = [nn.Flatten()] if flatten else []
    for width_in, width in zip([n_inputs, *widths], widths, strict=False):
        layers += _hidden(nn.Linear(width_in, width, bias=False), BatchNorm1d(width))
    return Network(nn.Sequential(*layers), nn.Linear(widths[-1], n_classes))


def _cnn(spec: NetworkSpec) -> Network:
    layers: list[nn.Module] = []
    channels_in = spec.channels
    for channels, stride, _ in cnn_shapes(spec.alpha, spec.side):
        conv = nn.Conv2d(channels_in, channels, 3, stride=stride, padding=1, bias=False)
        layers += _hidden(conv, BatchNorm2d(channels))
        channels_in = channels
    side = cnn_shapes(spec.alpha, spec.side)[-1][2]
    hidden = CNN_HIDDEN * spec.alpha
    last = nn.Linear(channels_in * side**2, hidden, bias=False)
    layers += [nn.Flatten(), *_hidden(last, BatchNorm1d(hidden))]
    return Network(Convolutional(*layers), nn.Linear(hidden, spec.n_classes))


def _resnet18(spec: NetworkSpec) -> Network:
    from iunet.torchvision_cpu import import_torchvision

    import_torchvision()
    from torchvision.models.resnet import BasicBlock, ResNet

    class ScaledResNet(ResNet):
        """torchvision's ResNet with all channels multiplied by `spec.width`."""

        def _make_layer(self, block, planes, blocks, stride=1, dilate=False):
            if planes == 64 and spec.width != 1:  # the first stage: the stem comes before it
                self.inplanes = max(1, round(64 * spec.width))
                self.conv1 = nn.Conv2d(3, self.inplanes, 7, stride=2, padding=3, bias=False)
                self.bn1 = BatchNorm2d(self.inplanes)
            planes = max(1, round(planes * spec.width))
            return super()._make_layer(block, planes, blocks, stride, dilate)

    whole = ScaledResNet(BasicBlock, [2, 2, 2, 2], spec.n_classes, norm_layer=BatchNorm2d)
    parts = OrderedDict(whole.named_children())
    decoder = parts.pop("fc")
    if spec.width != 1:
        decoder = nn.Linear(whole.inplanes, spec.n_classes)
    return Network(Convolutional(OrderedDict(parts, flatten=nn.Flatten())), decoder)


class Convolutional(nn.Sequential):
    """Layers that get their images with the channels last in memory, if they work on a CPU.

    Convolutions are faster so, and hand the layout on. The weights keep theirs: what is trained,
    pruned and stored is as ever.
    """

    def forward(self, x: Tensor) -> Tensor:
        if x.device.type == "cpu":
            x = x.contiguous(memory_format=torch.channels_last)
        return super().forward(x)


# ---- BatchNorm of two views


class _ViewsMixin:
    """BatchNorm that treats the halves of a batch as two forward passes, when asked to.

    ILO needs the encoder's output for x and for g(x). One forward of [x; g(x)] does each matrix
    product once and is faster than two, but plain BatchNorm would mix the statistics of both: then
    L_sup would see other activations than under `sup`, and the running statistics would be those of
    no data set. Here each view is normalised by its own statistics, as in two forwards, and only
    the first, untransformed view moves the running statistics, which evaluation uses on such data.
    So `ilo` with λ = 0 is `sup` exactly.
    """

    views = 1

    def forward(self, x: Tensor) -> Tensor:
        x = x.float() if x.dtype == torch.float16 else x  # 16 bit except BatchNorm (SPEC section 4)
        if self.views == 1 or not self.training:
            return super().forward(x)
        clean, transformed = x.chunk(2)
        normalised = F.batch_norm(
            transformed, None, None, self.weight, self.bias, training=True, eps=self.eps
        )
        return torch.cat([super().forward(clean), normalised])


class BatchNorm1d(_ViewsMixin, nn.BatchNorm1d):
    pass


class BatchNorm2d(_ViewsMixin, nn.BatchNorm2d):
    pass


@contextlib.contextmanager
def two_views(network: nn.Module) -> Iterator[None]:
    """Inside, a batch is [x; g(x)] and BatchNorm keeps the two apart."""
    norms = [module for module in network.modules() if isinstance(module, _ViewsMixin)]
    for norm in norms:
        norm.views = 2
    try:
        yield
    finally:
        for norm in norms:
            norm.views = 1


# ---- weights


def encoder_weights(network: Network) -> dict[str, nn.Parameter]:
    """The weights that pruning may remove: of every Linear and Conv of the encoder, in order."""
    return {
        f"encoder.{name}.weight": module.weight
        for name, module in network.encoder.named_modules()
        if isinstance(module, (nn.Linear, nn.Conv2d))
    }


def scaled_weights(network: Network) -> dict[str, nn.Parameter]:
    """The weights that PIS scales: the encoder's, and the decoder's."""
    return {**encoder_weights(network), "decoder.weight": network.decoder.weight}


def initialise(spec: NetworkSpec, init: str, seed: int) -> Network:
    """θ†: a network with its initial, unscaled weights, the same for every κ and objective."""
    torch.manual_seed(seed)
    network = build_network(spec)
    if init != "torch_default" and spec.name != "resnet18":
        draw = {"he_normal": _he_normal, "glorot": nn.init.xavier_uniform_}[init]
        for weight in scaled_weights(network).values():
            draw(weight)
    return network


def _he_normal(weight: Tensor) -> None:
    nn.init.kaiming_normal_(weight, nonlinearity="relu")


def state_tensors(network: nn.Module) -> dict[str, Tensor]:
    """Everything that defines the network's function: parameters and BatchNorm's statistics."""
    return {name: tensor.detach() for name, tensor in network.state_dict().items()}

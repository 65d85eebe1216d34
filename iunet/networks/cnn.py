"""`cnn`: eight convolutions without pooling, which `mlp_vis` contains."""

from __future__ import annotations

from torch import nn

from iunet.networks.batchnorm import BatchNorm1d, BatchNorm2d
from iunet.networks.network import Convolutional, Network, NetworkSpec, hidden
from iunet.networks.shapes import CNN_HIDDEN, cnn_shapes


def build(spec: NetworkSpec) -> Network:
    alpha = spec.options["alpha"]
    layers: list[nn.Module] = []
    channels_in = spec.channels
    shapes = cnn_shapes(alpha, spec.side)
    for channels, stride, _ in shapes:
        conv = nn.Conv2d(channels_in, channels, 3, stride=stride, padding=1, bias=False)
        layers += hidden(conv, BatchNorm2d(channels))
        channels_in = channels
    side = shapes[-1][2]
    units = CNN_HIDDEN * alpha
    last = nn.Linear(channels_in * side**2, units, bias=False)
    layers += [nn.Flatten(), *hidden(last, BatchNorm1d(units))]
    return Network(Convolutional(*layers), nn.Linear(units, spec.n_classes))

"""`resnet18`: torchvision's (7×7 stem, max-pool), with a factor for all channels."""

from __future__ import annotations

import math
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from iunet.networks.layers import Layer, Shape

if TYPE_CHECKING:
    from iunet.networks.network import Network, NetworkSpec

STAGES = ((64, 1), (128, 2), (256, 2), (512, 2))  # channels, stride; two blocks of two 3×3 each


def layers(options: dict[str, Any], data: Shape) -> list[Layer]:
    side = math.ceil(data.side / 2)
    channels_in = max(1, round(64 * options["width"]))
    found = [Layer((channels_in, 3, 7, 7), side**2)]
    side = math.ceil(side / 2)  # the pool
    for stage, (wide, stride) in enumerate(STAGES):
        channels, side = max(1, round(wide * options["width"])), math.ceil(side / stride)
        inner = Layer((channels, channels, 3, 3), side**2)
        found += [Layer((channels, channels_in, 3, 3), side**2), inner]
        # The shortcut's 1×1
        found += [Layer((channels, channels_in, 1, 1), side**2)] if stage else []
        found += [inner, inner]
        channels_in = channels
    return found


def build(spec: NetworkSpec) -> Network:
    from torch import nn

    from iunet.machine.torchvision_cpu import import_torchvision
    from iunet.networks.batchnorm import BatchNorm2d
    from iunet.networks.network import Convolutional, Network

    import_torchvision()
    from torchvision.models.resnet import BasicBlock, ResNet

    width = spec.options["width"]

    class ScaledResNet(ResNet):
        """torchvision's ResNet with all channels multiplied by `width`."""

        # A private name, but the only place where torchvision lets the channels be changed.
        def _make_layer(self, block, planes, blocks, stride=1, dilate=False):
            if planes == 64 and width != 1:  # the first stage: the stem comes before it
                self.inplanes = max(1, round(64 * width))
                self.conv1 = nn.Conv2d(3, self.inplanes, 7, stride=2, padding=3, bias=False)
                self.bn1 = BatchNorm2d(self.inplanes)
            planes = max(1, round(planes * width))
            return super()._make_layer(block, planes, blocks, stride, dilate)

    whole = ScaledResNet(BasicBlock, [2, 2, 2, 2], spec.n_classes, norm_layer=BatchNorm2d)
    parts = OrderedDict(whole.named_children())
    decoder = parts.pop("fc")
    if width != 1:
        decoder = nn.Linear(whole.inplanes, spec.n_classes)
    return Network(Convolutional(OrderedDict(parts, flatten=nn.Flatten())), decoder)

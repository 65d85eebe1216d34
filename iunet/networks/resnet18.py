"""`resnet18`: torchvision's (7×7 stem, max-pool), with a multiplier of all channels."""

from __future__ import annotations

from collections import OrderedDict

from torch import nn

from iunet.networks.batchnorm import BatchNorm2d
from iunet.networks.network import Convolutional, Network, NetworkSpec


def build(spec: NetworkSpec) -> Network:
    from iunet.machine.torchvision_cpu import import_torchvision

    import_torchvision()
    from torchvision.models.resnet import BasicBlock, ResNet

    width = spec.options["width"]

    class ScaledResNet(ResNet):
        """torchvision's ResNet with all channels multiplied by `width`."""

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

"""The invariant transforms S, batched on the device, with a fresh draw for every sample.

Vision: SimCLR's four (`resize`, `horiz`, `color`, `graysc`), on images in [0, 1]. They compute what
torchvision's functional operations compute for the same parameters; `resize` interpolates
bilinearly inside the crop, and since a crop is never larger than the image, antialiasing
(torchvision's default) has nothing to do. Tabular: SCARF's feature corruption, on raw columns.

Sampling and applying are separate functions, so that both can be tested.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Generator, Tensor

GREY = (0.2989, 0.587, 0.114)  # torchvision's luma weights
CROP_ATTEMPTS = 10  # as torchvision's RandomResizedCrop
BRIGHTNESS, CONTRAST, SATURATION, HUE, NOTHING = range(5)


def _uniform(generator: Generator, low: float, high: float, *shape: int) -> Tensor:
    draws = torch.rand(shape, generator=generator, device=generator.device)
    return low + (high - low) * draws


# ---- resize: RandomResizedCrop to the image's own size


@dataclass
class Crops:
    """One box per sample, in pixels."""

    top: Tensor
    left: Tensor
    height: Tensor
    width: Tensor


def sample_crops(
    count: int, side: int, scale: list[float], ratio: list[float], generator: Generator
) -> Crops:
    """Boxes as torchvision draws them: the first of ten that fits, else the central one."""
    area = side * side * _uniform(generator, *scale, count, CROP_ATTEMPTS)
    log_ratio = _uniform(generator, math.log(ratio[0]), math.log(ratio[1]), count, CROP_ATTEMPTS)
    width = (area * log_ratio.exp()).sqrt().round()
    height = (area / log_ratio.exp()).sqrt().round()
    fits = (width > 0) & (width <= side) & (height > 0) & (height <= side)
    first = fits.int().argmax(dim=1, keepdim=True)  # the first of the largest values
    found = fits.any(dim=1)
    # The fallback of torchvision is the whole image here: a square's ratio is inside any range
    # around 1.
    width = torch.where(found, width.gather(1, first)[:, 0], side)
    height = torch.where(found, height.gather(1, first)[:, 0], side)
    places = torch.rand(2, count, generator=generator, device=generator.device)
    return Crops(
        top=(places[0] * (side - height + 1)).floor(),
        left=(places[1] * (side - width + 1)).floor(),
        height=height,
        width=width,
    )


def resize_crops(images: Tensor, crops: Crops) -> Tensor:
    """Each image's box, resized to the image's size."""
    side = images.shape[-1]
    rows = _interpolation(crops.top, crops.height, side)
    columns = _interpolation(crops.left, crops.width, side)
    # Two small matrix products per image; the rows of the matrices have two entries each.
    return rows[:, None] @ images @ columns[:, None].transpose(2, 3)


def _interpolation(start: Tensor, length: Tensor, side: int) -> Tensor:
    """Matrices [n, side, side] that sample [start, start + length) at `side` points, linearly."""
    out = torch.arange(side, device=start.device)
    scale = length[:, None] / side
    place = ((out + 0.5) * scale - 0.5).clamp(min=0).minimum(length[:, None] - 1) + start[:, None]
    # The hat function 1 − |distance| is linear interpolation between the two pixels around a place.
    distance = (place[:, :, None] - out).abs()
    return (1 - distance).clamp(min=0)


# ---- horiz, graysc


def flip(images: Tensor, chosen: Tensor) -> Tensor:
    return torch.where(chosen[:, None, None, None], images.flip(-1), images)


def luma(images: Tensor) -> Tensor:
    red, green, blue = images.unbind(1)
    return (GREY[0] * red + GREY[1] * green + GREY[2] * blue)[:, None]


def grayscale(images: Tensor, chosen: Tensor) -> Tensor:
    return torch.where(chosen[:, None, None, None], luma(images), images)


# ---- color: ColorJitter


@dataclass
class Jitter:
    """Per sample: the factor of each adjustment, and the order in which they are made."""

    factors: Tensor  # [n, 3]: brightness, contrast, saturation
    hue: Tensor  # [n]: shift as a share of the colour circle
    order: Tensor  # [n, 4]: a permutation of BRIGHTNESS, CONTRAST, SATURATION, HUE
    chosen: Tensor  # [n]: whether it is made at all


def sample_jitter(
    count: int,
    p: float,
    brightness: float,
    contrast: float,
    saturation: float,
    hue: float,
    generator: Generator,
) -> Jitter:
    strengths = (brightness, contrast, saturation)
    factors = [_uniform(generator, max(0.0, 1 - s), 1 + s, count) for s in strengths]
    return Jitter(
        factors=torch.stack(factors, dim=1),
        hue=_uniform(generator, -hue, hue, count),
        order=torch.rand(count, 4, generator=generator, device=generator.device).argsort(dim=1),
        chosen=torch.rand(count, generator=generator, device=generator.device) < p,
    )


def color_jitter(images: Tensor, jitter: Jitter) -> Tensor:
    """Brightness, contrast, saturation and hue, each sample in its own order.

    The first three are blends with a reference image, so one blend per place in the order serves
    samples that make different ones. Hue is dear; every sample has it once, so it is computed once,
    between the blends that come before it and those that come after.
    """
    hue_place = (jitter.order == HUE).int().argmax(dim=1)
    for place in range(3):
        images = _blend(images, jitter, place, active=place < hue_place)
    images = torch.where(jitter.chosen[:, None, None, None], shift_hue(images, jitter.hue), images)
    for place in range(1, 4):
        images = _blend(images, jitter, place, active=place > hue_place)
    return images


def _blend(images: Tensor, jitter: Jitter, place: int, active: Tensor) -> Tensor:
    """factor · image + (1 − factor) · reference, clamped; the identity where not active."""
    active = active & jitter.chosen
    kind = jitter.order[:, place].clamp(max=SATURATION)
    factor = jitter.factors.gather(1, kind[:, None])[:, 0]
    factor = torch.where(active, factor, 1.0)[:, None, None, None]
    grey = luma(images)
    kind = kind[:, None, None, None]
    reference = torch.where(kind == CONTRAST, grey.mean(dim=(2, 3), keepdim=True), grey)
    reference = torch.where(kind == BRIGHTNESS, 0.0, reference)
    return torch.lerp(reference, images, factor).clamp(0, 1)


def shift_hue(images: Tensor, shift: Tensor) -> Tensor:
    """Turn every pixel's hue (HSV) by `shift` of the colour circle, a number per sample."""
    red, green, blue = images.unbind(1)
    value = torch.maximum(torch.maximum(red, green), blue)
    chroma = value - torch.minimum(torch.minimum(red, green), blue)
    # The hue in sixths of the circle, from the two channels that are not the largest.
    is_red, is_green = red == value, green == value
    difference = torch.where(is_red, green - blue, torch.where(is_green, blue - red, red - green))
    hue = torch.where(is_red, 0.0, torch.where(is_green, 2.0, 4.0))
    hue.addcdiv_(difference, chroma.clamp(min=1e-12)).add_(6 * shift[:, None, None])
    # Each channel as a function of the hue: value − chroma · a trapezoid around its colour.
    turned = torch.empty_like(images)
    for channel, offset in enumerate((5.0, 3.0, 1.0)):
        place = hue + offset
        place.sub_((place / 6).floor_(), alpha=6)  # modulo 6; `%` is several times slower
        trapezoid = torch.minimum(place, 4 - place).clamp_(0, 1)
        turned[:, channel] = torch.addcmul(value, chroma, trapezoid, value=-1)
    return turned


# ---- the transforms by name


Transform = Callable[[Tensor, Generator], Tensor]


def vision_transforms(settings: dict, always: bool = False) -> dict[str, Transform]:
    """The four transforms by the paper's names; `always` applies each to every sample (p = 1)."""

    def p(name: str) -> float:
        return 1.0 if always else settings[name]["p"]

    def chosen(images: Tensor, probability: float, generator: Generator) -> Tensor:
        draws = torch.rand(len(images), generator=generator, device=generator.device)
        return draws < probability

    def resize(images: Tensor, generator: Generator) -> Tensor:
        side = images.shape[-1]
        return resize_crops(
            images, sample_crops(len(images), side, **settings["resize"], generator=generator)
        )

    def horiz(images: Tensor, generator: Generator) -> Tensor:
        return flip(images, chosen(images, p("horiz"), generator))

    def color(images: Tensor, generator: Generator) -> Tensor:
        parameters = {**settings["color"], "p": p("color")}
        return color_jitter(images, sample_jitter(len(images), **parameters, generator=generator))

    def graysc(images: Tensor, generator: Generator) -> Tensor:
        return grayscale(images, chosen(images, p("graysc"), generator))

    known = {"resize": resize, "horiz": horiz, "color": color, "graysc": graysc}
    return {name: transform for name, transform in known.items() if name in settings}


def compose(transforms: dict[str, Transform]) -> Transform:
    """All transforms, one after the other in their order."""

    def composed(images: Tensor, generator: Generator) -> Tensor:
        for transform in transforms.values():
            images = transform(images, generator)
        return images

    return composed


# ---- SCARF


def scarf(raw: Tensor, train: Tensor, corruption: float, generator: Generator) -> Tensor:
    """Replace ⌊corruption · m⌋ features of every row by those of random training rows.

    Rows are raw columns [n, m], a categorical column as its code, so that a one-hot group is
    corrupted as one feature.
    """
    n, m = raw.shape
    k = math.floor(corruption * m + 1e-9)  # 0.6 · 5 is 3, whatever the float says
    # The k largest of m random numbers: k features without replacement, in whatever order.
    draws = torch.rand(n, m, generator=generator, device=generator.device)
    features = draws.topk(k, dim=1, sorted=False).indices
    donors = torch.randint(len(train), (n, k), generator=generator, device=generator.device)
    places = donors.mul_(m).add_(features)  # in `train` read row by row
    return raw.scatter(1, features, train.take(places))

"""Transforms against torchvision, operation by operation and draw by draw; SCARF row by row."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.stats import chi2_contingency, chisquare, ks_2samp

from iunet.data.load import Part, TabularInputs, VisionInputs
from iunet.data.preprocess import Categorical, Numeric, Preprocessing
from iunet.machine.torchvision_cpu import import_torchvision
from iunet.method.augment import (
    color_jitter,
    compose,
    flip,
    grayscale,
    resize_crops,
    sample_crops,
    sample_jitter,
    scarf,
    vision_transforms,
)

import_torchvision()
from torchvision import transforms as v1  # noqa: E402
from torchvision.transforms.v2 import functional as TF  # noqa: E402

CPU = torch.device("cpu")
SETTINGS = {
    "resize": {"scale": [0.08, 1.0], "ratio": [3 / 4, 4 / 3]},
    "horiz": {"p": 0.5},
    "color": {"p": 0.8, "brightness": 0.4, "contrast": 0.4, "saturation": 0.4, "hue": 0.1},
    "graysc": {"p": 0.2},
}
DRAWS = 4000
PIXEL = 1 / 255


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def pictures(count: int = 64, side: int = 32) -> torch.Tensor:
    """Smooth colour images, with some pixels black, white and grey, where hue is undefined."""
    g = generator(7)
    small = torch.rand(count, 3, 5, 5, generator=g)
    images = torch.nn.functional.interpolate(small, side, mode="bicubic").clamp(0, 1)
    images[:, :, 0, :3] = torch.tensor([0.0, 0.5, 1.0])
    return images


# ---- the same parameters give the same pixels


@pytest.mark.parametrize("side", [16, 32])
def test_resize(side):
    images = pictures(side=side)
    crops = sample_crops(len(images), side, **SETTINGS["resize"], generator=generator())
    ours = resize_crops(images, crops)
    for i, image in enumerate(images):
        box = [int(v[i]) for v in (crops.top, crops.left, crops.height, crops.width)]
        theirs = TF.resized_crop(image, *box, size=[side, side], antialias=True)
        assert (ours[i] - theirs).abs().max() <= PIXEL


def test_color_in_every_order():
    images = pictures(256)
    jitter = sample_jitter(len(images), **SETTINGS["color"], generator=generator())
    assert len({tuple(order.tolist()) for order in jitter.order}) == 24
    ours = color_jitter(images, jitter)
    adjust = (TF.adjust_brightness, TF.adjust_contrast, TF.adjust_saturation)
    for i, image in enumerate(images):
        for kind in jitter.order[i].tolist() if jitter.chosen[i] else []:
            if kind == 3:
                image = TF.adjust_hue(image, jitter.hue[i].item())
            else:
                image = adjust[kind](image, jitter.factors[i, kind].item())
        assert (ours[i] - image).abs().max() <= PIXEL


def test_flip_and_grayscale():
    images = pictures()
    chosen = torch.arange(len(images)) % 2 == 0
    flipped, grey = flip(images, chosen), grayscale(images, chosen)
    for i, image in enumerate(images):
        if chosen[i]:
            assert (flipped[i] - TF.horizontal_flip(image)).abs().max() <= PIXEL
            assert (grey[i] - TF.rgb_to_grayscale(image, 3)).abs().max() <= PIXEL
        else:
            assert torch.equal(flipped[i], image) and torch.equal(grey[i], image)


# ---- the parameters have torchvision's distributions


def same_distribution(ours, theirs) -> bool:
    return ks_2samp(np.asarray(ours), np.asarray(theirs)).pvalue > 1e-3


def test_crops_are_drawn_as_torchvisions():
    crops = sample_crops(DRAWS, 32, **SETTINGS["resize"], generator=generator())
    torch.manual_seed(0)
    image, resize = torch.zeros(3, 32, 32), SETTINGS["resize"]
    draw = v1.RandomResizedCrop.get_params
    theirs = np.array([draw(image, resize["scale"], resize["ratio"]) for _ in range(DRAWS)])
    for column, ours in enumerate((crops.top, crops.left, crops.height, crops.width)):
        assert same_distribution(ours, theirs[:, column])
    assert same_distribution(crops.height * crops.width, theirs[:, 2] * theirs[:, 3])


def test_crops_reach_every_edge():
    """Of the smallest crops, every place in the image is drawn."""
    crops = sample_crops(DRAWS, 8, [0.5, 0.5], [1.0, 1.0], generator=generator())
    assert set(crops.height.tolist()) == set(crops.width.tolist()) == {6}
    for start in (crops.top, crops.left):
        assert set(start.tolist()) == {0, 1, 2}


def test_jitter_is_drawn_as_torchvisions():
    jitter = sample_jitter(DRAWS, **SETTINGS["color"], generator=generator())
    torch.manual_seed(0)
    span = [0.6, 1.4]
    draws = [v1.ColorJitter.get_params(span, span, span, [-0.1, 0.1]) for _ in range(DRAWS)]
    for i in range(3):
        assert same_distribution(jitter.factors[:, i], [draw[1 + i] for draw in draws])
    assert same_distribution(jitter.hue, [draw[4] for draw in draws])
    places = np.array([draw[0].numpy() for draw in draws])
    for place in range(4):
        assert same_distribution(jitter.order[:, place], places[:, place])


def test_probabilities():
    images = pictures(1)[:, :, :4, :4].expand(DRAWS, 3, 4, 4)
    for name, p in {"horiz": 0.5, "color": 0.8, "graysc": 0.2}.items():
        changed = vision_transforms(SETTINGS)[name](images, generator())
        share = (changed != images).flatten(1).any(dim=1).double().mean().item()
        assert share == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / DRAWS))


def test_every_sample_has_a_draw_of_its_own():
    images = pictures(1).expand(50, 3, 32, 32)
    for name in ("resize", "color"):
        changed = vision_transforms(SETTINGS, always=True)[name](images, generator())
        assert len(changed.flatten(1).unique(dim=0)) == 50


def test_always_means_every_sample():
    images = pictures()
    transforms = vision_transforms(SETTINGS, always=True)
    assert torch.equal(transforms["horiz"](images, generator()), images.flip(-1))
    grey = transforms["graysc"](images, generator())
    assert torch.equal(grey[:, 0], grey[:, 2])


def test_composition_is_one_after_the_other():
    draws, transforms = generator(3), vision_transforms(SETTINGS)
    expected = pictures()
    for name in ("resize", "horiz", "color", "graysc"):
        expected = transforms[name](expected, draws)
    composed = compose(transforms)
    assert torch.equal(composed(pictures(), generator(3)), expected)
    assert expected.min() >= 0 and expected.max() <= 1
    assert not torch.equal(composed(pictures(), generator(4)), expected)


def test_vision_inputs_are_normalised():
    raw = (255 * pictures()).to(torch.uint8)
    mean, std = [0.1, 0.2, 0.3], [0.5, 0.6, 0.7]
    inputs = VisionInputs({"mean": mean, "std": std}, CPU, SETTINGS, Part(raw, None))
    assert torch.allclose(inputs.prepare(raw), TF.normalize(raw / 255, mean, std), atol=1e-6)
    flipped = inputs.single_transforms()["horiz"](raw, generator())
    assert torch.allclose(flipped, inputs.prepare(raw).flip(-1), atol=1e-6)


# ---- SCARF


def test_scarf_row_by_row():
    """Exactly ⌊0.6·m⌋ features, each from the same column of some training row."""
    train = torch.randn(7, 50, generator=generator(1)).t()  # a view
    rows = torch.full((200, 7), 99.0)
    corrupted = scarf(rows, train, 0.6, generator())
    for row in corrupted:
        changed = (row != 99).nonzero()[:, 0].tolist()
        assert len(changed) == 4
        for column in changed:
            assert row[column] in train[:, column]
    assert (rows == 99).all()  # they themselves stay
    counts = (corrupted != 99).sum(dim=0)
    expected = 200 * 4 / 7
    assert ((counts - expected).abs() < 5 * np.sqrt(expected)).all()


def test_scarf_chooses_every_set_of_features_equally_often():
    """Of 5 features 3: each of the 10 sets, and each feature and pair, against its frequency."""
    rows = torch.full((20 * DRAWS, 5), -1.0)
    chosen = scarf(rows, torch.zeros(3, 5), 0.6, generator(5)) == 0
    _, counts = (chosen.long() @ (2 ** torch.arange(5))).unique(return_counts=True)
    assert len(counts) == 10 and chisquare(counts.numpy()).pvalue > 1e-3


def test_scarf_rows_are_independent():
    """Neither the features nor the donors of a row tell those of the next one."""
    train = torch.arange(4.0)[:, None].expand(4, 5)
    corrupted = scarf(torch.full((10 * DRAWS, 5), -1.0), train, 0.6, generator(6))
    one, next_one = corrupted[0::2, 0].long() + 1, corrupted[1::2, 0].long() + 1
    table = torch.zeros(5, 5).index_put_((one, next_one), torch.tensor(1.0), accumulate=True)
    assert (table > 0).all() and chi2_contingency(table.numpy()).pvalue > 1e-3


def test_scarf_donors_do_not_depend_on_the_feature():
    """Within a row, the donors of two corrupted features are independent, too."""
    train = torch.arange(4.0)[:, None].expand(4, 5)
    corrupted = scarf(torch.full((10 * DRAWS, 5), -1.0), train, 0.6, generator(7)).long()
    both = corrupted[(corrupted[:, 1] >= 0) & (corrupted[:, 3] >= 0)]
    table = torch.zeros(4, 4).index_put_((both[:, 1], both[:, 3]), torch.tensor(1.0), True)
    assert chi2_contingency(table.numpy()).pvalue > 1e-3
    assert chisquare(table.numpy().ravel()).pvalue > 1e-3


@pytest.mark.parametrize(("m", "k"), [(1, 0), (5, 3), (10, 6), (15, 9), (216, 129)])
def test_scarf_rounds_down(m, k):
    corrupted = scarf(torch.full((3, m), 9.0), torch.zeros(4, m), 0.6, generator())
    assert (corrupted == 0).sum(dim=1).tolist() == [k] * 3


def test_a_one_hot_group_is_one_feature():
    fitted = Preprocessing(
        [Numeric("size", 0.0, 0.0, 1.0)],
        [Categorical("colour", ["r", "g", "b"]), Categorical("grade", ["1", "2"])],
        [],
    )
    train = Part(torch.tensor([[5.0, 0, 0], [6.0, 1, 1], [7.0, 2, 0]]), None)
    settings = {"corruption": 0.67}
    inputs = TabularInputs(fitted.to_json(), CPU, settings, train)
    plain = inputs.prepare(torch.tensor([[1.0, 2, 0], [2.0, -1, 1]]))
    assert plain.tolist() == [[1, 0, 0, 1, 1, 0], [2, 0, 0, 0, 0, 1]]
    corrupted = inputs.transformed(torch.tensor([[1.0, 2, 0]] * 500), generator())
    assert (corrupted[:, 1:4].sum(dim=1) == 1).all()  # always exactly one colour
    assert (corrupted[:, 4:].sum(dim=1) == 1).all()
    assert len(corrupted[:, 1:4].unique(dim=0)) == 3

"""The controls: other masks, scores, starts, units and transforms, each against a slow version."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch
import yaml
from conftest import ROOT

from iunet.errors import UserError
from iunet.method.objectives import balanced_class_weights, supervised_loss
from iunet.method.pruning import Cut, magnitude_masks, prune, shuffled_masks, unit_masks
from iunet.networks.layers import shrunk_widths
from iunet.networks.network import NetworkSpec, build_network, encoder_weights
from iunet.runs import settings
from iunet.runs.methods import Method, resolve_method
from iunet.runs.names import CutName
from iunet.runs.targets import row_of_path

CONFIG = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())
NAMES = ["a", "b", "c"]


def draw(seed: int, scales=(1.0, 0.1, 0.01)) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    shapes = {"a": (12, 6), "b": (10, 12), "c": (8, 10)}
    return {
        name: (scale * rng.normal(size=shape)).astype(np.float32)
        for (name, shape), scale in zip(shapes.items(), scales, strict=True)
    }


TRAINED, INITIAL = draw(1), draw(0)


def kept(masks: dict[str, np.ndarray]) -> list[int]:
    return [int(masks[name].sum()) for name in NAMES]


def test_own_masks_are_those_of_magnitude():
    ours = prune(TRAINED, INITIAL, NAMES, Cut(4)).masks
    theirs = magnitude_masks(TRAINED, NAMES, 4)
    assert all(np.array_equal(ours[name], theirs[name]) for name in NAMES)


@pytest.mark.parametrize("mask", ["own", "shuffled", "random"])
def test_beside_it_stands_the_mask_of_the_initial_weights(mask):
    """By which the overlap is counted."""
    found = prune(TRAINED, INITIAL, NAMES, Cut(4, mask=mask))
    expected = magnitude_masks(INITIAL, NAMES, 4)
    assert all(np.array_equal(found.initial_masks[name], expected[name]) for name in NAMES)
    assert any((found.masks[name] != expected[name]).any() for name in NAMES)


def test_a_shuffled_mask_keeps_the_densities_of_its_layers_and_nothing_else():
    own = prune(TRAINED, INITIAL, NAMES, Cut(4)).masks
    shuffled = prune(TRAINED, INITIAL, NAMES, Cut(4, mask="shuffled", seed=3)).masks
    assert kept(own) == kept(shuffled)
    assert not np.array_equal(own["a"], shuffled["a"])
    again = prune(TRAINED, INITIAL, NAMES, Cut(4, mask="shuffled", seed=3)).masks
    other = prune(TRAINED, INITIAL, NAMES, Cut(4, mask="shuffled", seed=4)).masks
    assert np.array_equal(shuffled["a"], again["a"])
    assert not np.array_equal(shuffled["a"], other["a"])


def test_a_mask_shuffled_in_strata_keeps_as_many_large_initial_weights():
    """Within each tenth of a layer by |θ†|; plain shuffling thins the largest."""
    own = prune(TRAINED, INITIAL, NAMES, Cut(4)).masks
    cut = Cut(4, mask="shuffled_strata", seed=3)
    shuffled = prune(TRAINED, INITIAL, NAMES, cut).masks

    def by_stratum(masks: dict[str, np.ndarray], name: str) -> list[int]:
        order = np.argsort(np.abs(INITIAL[name]).ravel())
        return [int(masks[name].ravel()[part].sum()) for part in np.array_split(order, 10)]

    for name in NAMES:
        assert by_stratum(shuffled, name) == by_stratum(own, name)
    assert not np.array_equal(own["a"], shuffled["a"])
    plain = prune(TRAINED, INITIAL, NAMES, Cut(4, mask="shuffled", seed=3)).masks
    assert by_stratum(plain, "a") != by_stratum(own, "a")


def test_shuffling_is_uniform():
    mask = {"a": np.arange(6).reshape(2, 3) < 2}
    rng = np.random.default_rng(0)
    total = sum(shuffled_masks(mask, rng)["a"].astype(int) for _ in range(3000))
    assert np.abs(total / 3000 - 1 / 3).max() < 0.05


def test_a_random_mask_is_uniform_over_the_encoder():
    counts = np.zeros(3)
    for seed in range(200):
        masks = prune(TRAINED, INITIAL, NAMES, Cut(4, mask="random", seed=seed)).masks
        assert sum(kept(masks)) == round((72 + 120 + 80) / 4)
        counts += kept(masks)
    shares = counts / 200 / np.array([72, 120, 80])
    assert np.abs(shares - 0.25).max() < 0.02


def test_the_mask_of_the_initial_weights():
    masks = prune(TRAINED, INITIAL, NAMES, Cut(4, mask="initial"))
    theirs = magnitude_masks(INITIAL, NAMES, 4)
    assert all(np.array_equal(masks.masks[name], theirs[name]) for name in NAMES)
    assert all(np.array_equal(masks.initial_masks[name], theirs[name]) for name in NAMES)


def test_the_relative_score_does_not_see_the_scale_of_layers():
    """Multiplying a layer's trained and initial weights alike changes no mask."""
    scaled = [{**w, "b": 7 * w["b"]} for w in (TRAINED, INITIAL)]
    one = prune(TRAINED, INITIAL, NAMES, Cut(4, score="relative")).masks
    other = prune(*scaled, NAMES, Cut(4, score="relative")).masks
    assert all(np.array_equal(one[name], other[name]) for name in NAMES)
    plain = prune(TRAINED, INITIAL, NAMES, Cut(4)).masks
    assert kept(plain)[2] == 0 and kept(one)[2] > 0
    divided = {name: TRAINED[name] / INITIAL[name].std() for name in NAMES}
    expected = magnitude_masks(divided, NAMES, 4)
    assert all(np.array_equal(one[name], expected[name]) for name in NAMES)


def test_the_layerwise_score_keeps_the_same_share_of_every_layer():
    masks = prune(TRAINED, INITIAL, NAMES, Cut(4, score="layerwise")).masks
    assert kept(masks) == [18, 30, 20]


def slow_units(weights, initial, names, ratio):
    """Remove the weakest unit, one at a time, and count what is left by looking."""
    units = []
    for i, name in enumerate(names):
        scale = np.sqrt((initial[name] ** 2).sum() / len(initial[name]))
        units += [(np.sqrt((row**2).sum()) / scale, i, u) for u, row in enumerate(weights[name])]
    masks = {name: np.ones(weights[name].shape, bool) for name in names}
    allowed = round(sum(w.size for w in weights.values()) / ratio)
    for _, i, unit in sorted(units):
        if sum(m.sum() for m in masks.values()) <= allowed:
            break
        masks[names[i]][unit] = False
        if i + 1 < len(names):
            masks[names[i + 1]][:, unit] = False
    return masks


@pytest.mark.parametrize("ratio", [1, 1.5, 2, 4, 8, 30])
def test_units_against_one_at_a_time(ratio):
    ours, theirs = (f(TRAINED, INITIAL, NAMES, ratio) for f in (unit_masks, slow_units))
    assert all(np.array_equal(ours[name], theirs[name]) for name in NAMES)
    assert sum(kept(ours)) <= round(272 / ratio)


def test_units_of_a_convolution_take_all_their_pixels_along():
    rng = np.random.default_rng(0)
    weights = {"conv": rng.normal(size=(4, 3, 3, 3)), "linear": rng.normal(size=(5, 16))}
    masks = unit_masks(weights, weights, ["conv", "linear"], 2)
    for channel in range(4):
        pixels = masks["linear"][:, 4 * channel : 4 * channel + 4]
        assert masks["conv"][channel].any() or not pixels.any()


# ---- a dense network as small as a subnetwork


@pytest.mark.parametrize(("ratio", "n_classes"), [(2, 3), (8, 3), (16, 1000)])
def test_a_shrunk_network_has_as_many_parameters_as_the_subnetwork(ratio, n_classes):
    """All of them: with many classes the decoder, which is not pruned, is the larger part."""

    def built(shrink):
        options = {"width": 512, "depth": 5, "shrink": shrink}
        return build_network(NetworkSpec("mlp_tab", n_classes, n_inputs=18, options=options))

    def count(tensors):
        return sum(tensor.numel() for tensor in tensors)

    whole, narrow = built(1), built(ratio)
    encoder = count(encoder_weights(whole).values())
    kept = encoder / ratio + count(whole.parameters()) - encoder
    assert count(narrow.parameters()) <= kept < count(narrow.parameters()) * 1.02
    assert len({*encoder_weights(narrow)} ^ {*encoder_weights(whole)}) == 0  # as deep


def test_a_shrink_of_one_changes_nothing():
    assert shrunk_widths(7, [5, 4], 2, 1) == [5, 4]


# ---- class weights


def test_balanced_class_weights_against_a_loop():
    labels = torch.tensor([0, 0, 0, 1, 2, 2])
    weights = balanced_class_weights(labels, 4)
    assert torch.allclose(weights[:3], torch.tensor([6 / 12, 6 / 4, 6 / 8]))
    logits = torch.randn(6, 4)
    each = torch.nn.functional.cross_entropy(logits, labels, reduction="none")
    expected = (weights[labels] * each).sum() / weights[labels].sum()
    assert torch.allclose(supervised_loss(logits, labels, weights), expected)


# ---- rows, names and back


ROWS = {
    "ratio8-shuffled": {"mask": "shuffled"},
    "ratio8-shuffled_strata": {"mask": "shuffled_strata"},
    "ratio8-relative-random": {"score": "relative", "mask": "random"},
    "ratio8-layerwise": {"score": "layerwise"},
    "units8": {"structure": "unit"},
    "ratio8-fresh": {"reinit": "fresh"},
    "ratio8-corruption0.6": {"finetune": {"augment": "all"}},
    "ratio8-corruption0.3-lr0.01": {"finetune": {"augment": {"corruption": 0.3}, "lr": 0.01}},
    "ratio8-trained": {"reinit": "none"},
    "ratio8-other_seed-fresh-weight_decay0.1": {
        "mask": "other_seed",
        "reinit": "fresh",
        "finetune": {"weight_decay": 0.1},
    },
}


def resolve(row: dict, network: str) -> Method:
    return resolve_method({**CONFIG, "methods": {"row": row}}, "row", network)


@pytest.mark.parametrize(("cut", "changes"), ROWS.items())
def test_a_row_of_controls_has_one_name_and_comes_back_from_it(cut, changes):
    row = {"kappa": 0.25, "objective": "ilo", "ratios": [8], **changes}
    method = resolve(row, "mlp_tab")
    assert (method.supernets, method.cuts) == (("kappa0.25-ilo",), (cut,))
    back = row_of_path(CONFIG, "mlp_tab", "kappa0.25-ilo", cut)
    assert resolve(back, "mlp_tab").cuts == (cut,)


def test_class_weights_stand_in_supernet_and_subnetwork():
    row = {"kappa": 1, "objective": "sup", "class_weights": "balanced"}
    method = resolve(row, "mlp_tab")
    assert (method.supernets, method.cuts) == (("kappa1-sup-balanced",), ("ratio8-balanced",))
    point = SimpleNamespace(network="mlp_tab", supernet="kappa1-sup-balanced", seed="0")
    assert settings.supernet_settings(CONFIG, point)["class_weights"] == "balanced"
    back = row_of_path(CONFIG, "mlp_tab", "kappa1-sup-balanced", "ratio8-balanced")
    assert back["class_weights"] == "balanced"


@pytest.mark.parametrize(
    ("network", "augment", "name", "left"),
    [
        ("mlp_vis", {"only": ["horiz"]}, "kappa1-ilo-coloroff-grayscoff-resizeoff", ["horiz"]),
        ("mlp_vis", {"brightness": 0.8}, "kappa1-ilo-brightness0.8", None),
        ("mlp_tab", {"corruption": 0.3}, "kappa1-ilo-corruption0.3", None),
    ],
)
def test_transforms_are_a_coordinate_of_the_supernet(network, augment, name, left):
    row = {"kappa": 1, "objective": "ilo", "augment": augment}
    assert resolve(row, network).supernets == (name,)
    point = SimpleNamespace(network=network, supernet=name, seed="0")
    chosen = settings.supernet_augment(CONFIG, point)
    if left is not None:
        assert list(chosen) == left and chosen["horiz"] == CONFIG["augment"]["vision"]["horiz"]
    elif network == "mlp_vis":
        assert chosen["color"]["brightness"] == 0.8 and len(chosen) == 4
    else:
        assert chosen == {"corruption": 0.3}
    assert settings.supernet_settings(CONFIG, point)["epochs"] == 100


@pytest.mark.parametrize(
    ("augment", "name", "left"),
    [
        ("all", "dense-coloron-grayscon-horizon-resizeon", ["resize", "horiz", "color", "graysc"]),
        ({"only": ["horiz", "resize"]}, "dense-horizon-resizeon", ["resize", "horiz"]),
    ],
)
def test_transforms_are_a_coordinate_of_the_fine_tuning(augment, name, left):
    row = {"recipe": "dense", "finetune": {"augment": augment}}
    assert resolve(row, "mlp_vis").supernets == (name,)
    point = SimpleNamespace(network="mlp_vis", dense=name, seed="0")
    chosen = settings.finetune_settings(CONFIG, point)["augment"]
    assert chosen == {transform: CONFIG["augment"]["vision"][transform] for transform in left}
    assert list(chosen) == left
    back = row_of_path(CONFIG, "mlp_vis", name, None)
    assert resolve(back, "mlp_vis").supernets == (name,)
    plain = SimpleNamespace(network="mlp_vis", dense="dense", seed="0")
    assert "augment" not in settings.finetune_settings(CONFIG, plain)


@pytest.mark.parametrize(
    ("changes", "fragment"),
    [
        ({"finetune": {"augment": {"only": ["horizontal"]}}}, "Did you mean 'horiz'?"),
        ({"finetune": {"horiz": True}}, "unknown key 'methods.row.finetune.horiz'"),
        ({"augment": {"only": ["horizontal"]}}, "Did you mean 'horiz'?"),
        ({"augment": {"corruption": 0.3}}, "unknown key 'methods.row.augment.corruption'"),
        ({"objective": "sup", "augment": {"brightness": 1}}, "sup uses no transforms"),
    ],
)
def test_impossible_transforms_are_named(changes, fragment):
    row = {"kappa": 1, "objective": "ilo", **changes}
    with pytest.raises(UserError, match=fragment.replace("?", r"\?")):
        resolve(row, "mlp_vis")


def test_another_seeds_mask_needs_another_seed():
    point = SimpleNamespace(cut="ratio8-other_seed", seed="0")
    with pytest.raises(UserError, match="has only one seed"):
        settings.seed_of_mask({**CONFIG, "seeds": [0]}, point)
    row = {"kappa": 1, "objective": "ilo", "mask": "other_seed"}
    assert resolve(row, "mlp_tab").needs_another_seed
    config = {**CONFIG, "seeds": [0, 5, 7]}
    for seed, other in {"0": 5, "5": 7, "7": 0}.items():
        point = SimpleNamespace(cut="ratio8-other_seed", seed=seed)
        assert settings.seed_of_mask(config, point) == other
        assert settings.seed_of_mask(config, SimpleNamespace(cut="ratio8", seed=seed)) == int(seed)


@pytest.mark.parametrize("text", [*ROWS, "survivors", "survivors-lr0.01", "ratio1.5", "units16"])
def test_cuts_print_as_they_are_read(text):
    assert str(CutName.parse(text)) == text

"""Names for people, the paper's where it has one: of methods, networks, data sets and supernets.

Plain text, no markup, and only the standard library: imported wherever something is shown.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from iunet.baselines.catalog import LEARNERS
from iunet.method.catalog import OBJECTIVES
from iunet.networks.catalog import NETWORKS
from iunet.runs.names import base_network, network_variant

if TYPE_CHECKING:
    import pandas as pd

# The one order in which methods are shown, everywhere.
METHOD_LABELS = {
    "dense": "Dense",
    "omp": "OMP",
    "beta_lasso": "β-LASSO",
    "scl": "SCL",
    "iunet_no_prune": "IUNET no prune",
    "iunet_no_ilo": "IUNET no ILO",
    "iunet_no_pis": "IUNET no PIS",
    "iunet": "IUNET",
    "sup_kappa0.125": "PIS (κ = 0.125)",
    "sup_kappa0.0625": "PIS (κ = 0.0625)",
    # controls: the mask, where fine-tuning starts, the step, the size, the weights, the order
    "iunet_shuffled": "IUNET mask shuffled",
    "iunet_shuffled_strata": "IUNET mask shuffled in strata",
    "iunet_random": "IUNET mask random",
    "iunet_other_seed": "IUNET mask of other seed",
    "iunet_initial": "IUNET mask initial",
    "iunet_fresh": "IUNET fresh weights",
    "iunet_no_reinit": "IUNET trained weights",
    "supernet_finetuned": "Supernet fine-tuned",
    "omp_lr16": "OMP lr × 16",
    "ilo_lr16": "ILO lr × 16",
    "sup_twin": "PIS exact twin",
    "ilo_twin": "IUNET exact twin",
    "sup_decoder_kappa": "OMP κ on decoder",
    "ilo_decoder_kappa": "ILO κ on decoder",
    "dense_augmented": "Dense augmented",
    "dense_crop_flip": "Dense crop and flip",
    "dense_lr16": "Dense lr × 16",
    "omp_augmented": "OMP augmented",
    "omp_crop_flip": "OMP crop and flip",
    "iunet_augmented": "IUNET augmented",
    "iunet_crop_flip": "IUNET crop and flip",
    "dense_balanced": "Dense balanced",
    "iunet_balanced": "IUNET balanced",
    "dense_small": "Dense small",
    "dense_he_normal": "Dense he_normal",
    "omp_he_normal": "OMP he_normal",
    "iunet_he_normal": "IUNET he_normal",
    "iunet_no_pis_he_normal": "IUNET no PIS he_normal",
    "omp_relative": "OMP relative",
    "omp_layerwise": "OMP layer-wise",
    "iunet_units": "IUNET units",
    # one transform at a time
    "iunet_only_resize": "IUNET only resize",
    "iunet_only_horiz": "IUNET only horiz",
    "iunet_only_color": "IUNET only color",
    "iunet_only_graysc": "IUNET only graysc",
    **{name: learner.label for name, learner in LEARNERS.items()},
}
# Rows of the config that differ from a method in one value.
VARIANT_LABELS = {
    "sup_kappa": "PIS (κ = {})",
    "search_kappa": "IUNET (κ = {})",
    "iunet_kappa": "IUNET (κ = {})",
    "iunet_lambda": "IUNET (λ = {})",
    "iunet_corruption": "IUNET (corruption {})",
}
SIZED = re.compile(r"(.+)_size([0-9.]+)")  # `iunet_size8` is `iunet` on a network with α = 8
DATASET_LABELS = {"cifar10": "CIFAR10", "cifar100": "CIFAR100", "svhn": "SVHN"}  # as the paper
METRIC_LABELS = {
    "accuracy": "Accuracy",
    "balanced_accuracy": "Balanced accuracy",
    "swapped_balanced_accuracy": "Swapped balanced accuracy",
    "primary": "Accuracy (images), balanced accuracy (tables)",
    "like_the_paper": "Each method in the metric of the paper's column",
    "value": "Value",
}
SCORES = ["accuracy", "balanced_accuracy", "swapped_balanced_accuracy"]  # what every run has
OBJECTIVE_LABELS = {name: entry.label for name, entry in OBJECTIVES.items()}


def method_label(method: str, network: str | None = None) -> str:
    """A method's name; the dense network has its own where it is known which one it is."""
    if method == "dense" and network:
        return network_label(network)
    if method in METHOD_LABELS:
        return METHOD_LABELS[method]
    if sized := SIZED.fullmatch(method):
        return f"{method_label(sized[1])}, α = {sized[2]}"
    variant = re.fullmatch(r"([a-z_]+?)([0-9.]+)", method)
    if variant and variant[1] in VARIANT_LABELS:
        return VARIANT_LABELS[variant[1]].format(variant[2])
    return method


def method_order(methods) -> list[str]:
    """Each method once, in the order of `METHOD_LABELS`, unknown ones last by name."""
    known = {method: place for place, method in enumerate(METHOD_LABELS)}
    return sorted(set(methods), key=lambda m: (known.get(plain_method(m), len(known)), m))


def plain_method(method: str) -> str:
    """The method of which this is another size."""
    sized = SIZED.fullmatch(method)
    return sized[1] if sized else method


def network_label(network: str) -> str:
    """`mlp_vis-alpha4` becomes 'MLP_VIS (alpha4)'."""
    name, variant = base_network(network), network_variant(network)
    text = NETWORKS[name].label if name in NETWORKS else name
    return f"{text} ({', '.join(variant[1:].split('-'))})" if variant else text


def run_names(runs: pd.DataFrame) -> list[str]:
    """The method of each run; its network is named where a method has several."""
    several = runs.groupby("method")["network"].nunique().gt(1)
    names = []
    for method, network in zip(runs["method"], runs["network"], strict=True):
        known = network if isinstance(network, str) else None
        named = several[method] and method != "dense"
        names.append(
            f"{method_label(method)} on {network_label(network)}"
            if named
            else method_label(method, known)
        )
    return names


def dataset_label(dataset: str) -> str:
    return DATASET_LABELS.get(dataset, dataset)


def kappa_label(kappa: float) -> str:
    return f"κ = {kappa:g}"


# ---- numbers and footnotes


def letters(index: int) -> str:
    """a … z, aa, ab …: the marks of footnotes."""
    first, last = divmod(index, 26)
    return (letters(first - 1) if first else "") + "abcdefghijklmnopqrstuvwxyz"[last]


def duration(seconds: float) -> str:
    """In words: 40 s, 4 min, 3 h 20 min, 2 days 3 h."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    days, hours = divmod(hours, 24)
    return f"{days} days {hours} h" if hours else f"{days} days"

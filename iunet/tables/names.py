"""How data sets, networks, methods and metrics are called in tables."""

from __future__ import annotations

from collections.abc import Iterable

DATASETS = {"cifar10": "CIFAR10", "cifar100": "CIFAR100", "svhn": "SVHN"}
NETWORKS = {"mlp_vis": "MLP_VIS", "resnet18": "RESNET", "cnn": "CNN", "mlp_tab": "MLP_TAB"}
METHODS = {
    "dense": "Dense",
    "omp": "OMP",
    "beta_lasso": "β-LASSO",
    "iunet": "IUNET",
    "iunet_no_prune": "IUNET no prune",
    "iunet_no_ilo": "IUNET no ILO",
    "iunet_no_pis": "IUNET no PIS",
    "scl": "SCL",
    "xgb": "XGB",
    "tabnet": "TABN",
    "mlp_c": "MLP_TAB+C",
}
TRANSFORMS = ("resize", "horiz", "color", "graysc", "feat")
METRICS = {
    "accuracy": "Accuracy",
    "balanced_accuracy": "Balanced accuracy",
    "swapped_balanced_accuracy": "Swapped balanced accuracy",
    "primary": "Accuracy (images), balanced accuracy (tables)",
    "like_the_paper": "Each method in the metric of the paper's column",
    "value": "Value",
}
SCORES = ["accuracy", "balanced_accuracy", "swapped_balanced_accuracy"]

TABULAR_NETWORK = "mlp_tab"
TUNED = ("xgb", "tabnet", "mlp_c")


def base_network(network: str) -> str:
    """The network without its variant: `mlp_vis` of `mlp_vis-alpha4`."""
    return network.split("-")[0]


def is_tabular(network: str) -> bool:
    return base_network(network) == TABULAR_NETWORK or network in TUNED


def network_label(network: str) -> str:
    base = base_network(network)
    return NETWORKS.get(base, base) + network[len(base) :]


def dataset_label(dataset: str) -> str:
    return DATASETS.get(dataset, dataset)


def method_label(method: str) -> str:
    return METHODS.get(method, method)


def metric_labels(metrics: Iterable[str]) -> dict[str, str]:
    return {metric: METRICS[metric] for metric in metrics if metric in METRICS}


def paper_metric(method: str, tabular: bool) -> str:
    """Which of our metrics a method's column of the paper is compared with (SPEC section 6)."""
    if not tabular:
        return "accuracy"
    return "balanced_accuracy" if method in TUNED else "swapped_balanced_accuracy"


def stand_in_text(stand_ins: dict[str, str] | None) -> str:
    """A sentence for captions: which data sets take the place of the paper's."""
    if not stand_ins:
        return ""
    pairs = [f"{ours} for {dataset_label(paper)}" for paper, ours in stand_ins.items()]
    return f" Stand-ins for the paper's data: {', '.join(pairs)}."

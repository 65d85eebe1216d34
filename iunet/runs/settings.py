"""The settings of every stage, from the config and the coordinates of a run.

`point` is anything that has the coordinates as attributes: the wildcards of a job. What these
functions return goes into a rule's parameters, and so decides when a job is repeated.
"""

from __future__ import annotations

from typing import Any

from iunet.baselines.catalog import LEARNERS
from iunet.data.registry import Dataset
from iunet.errors import UserError
from iunet.machine.resources import Epochs
from iunet.method.catalog import LASSO, Objective, objective_entry
from iunet.networks.catalog import network_entry
from iunet.runs.names import (
    INITIAL,
    WORDS,
    CutName,
    DenseName,
    SupernetName,
    base_network,
    network_variant,
    parse_variant,
)
from iunet.training.schedule import schedule_of, usual_schedule

Config = dict[str, Any]
# Options that the paper's recipe does not have, each with its neutral value, which is also the
# default of the stage. A setting of that value is not a parameter of jobs, so that a new option
# repeats no job.
OFF: dict[str, dict[str, Any]] = {
    "network": {"shrink": 1},
    "supernet": {"class_weights": "unweighted", "decoder_kappa": 1, "normalised_step": 1},
    "cut": {"structure": "weight", "score": "magnitude", "mask": "own"},
    "finetune": {"class_weights": "unweighted", "reinit": "initial"},
}


def without_off(stage: str, settings: dict[str, Any]) -> dict[str, Any]:
    """The settings without options that are off."""
    off = OFF[stage]
    return {key: value for key, value in settings.items() if key not in off or value != off[key]}


# ---- defaults


def supernet_defaults(config: Config) -> dict[str, Any]:
    section = dict(config["train"]["supernet"])
    optimiser = {k: v for k, v in section.pop("optimiser").items() if k != "name"}
    return OFF["supernet"] | section | _shared_defaults(config) | optimiser


def lasso_defaults(config: Config) -> dict[str, Any]:
    """Defaults of β-LASSO's supernets; l1 is a coordinate of the run."""
    section = config["beta_lasso"]
    return {
        "beta": section["beta"],
        "epochs": config["train"]["supernet"]["epochs"],
        **_shared_defaults(config),
        "lr": section["optimiser"]["lr"],
    }


def finetune_defaults(config: Config, kind: str) -> dict[str, Any]:
    section = dict(config["train"][f"finetune_{kind}"])
    optimiser = {k: v for k, v in section.pop("optimiser").items() if k != "name"}
    section.setdefault("schedule", usual_schedule(section))
    transforms = dict.fromkeys(config["augment"][kind], False)
    return OFF["finetune"] | transforms | section | _shared_defaults(config) | optimiser


def _shared_defaults(config: Config) -> dict[str, Any]:
    train = config["train"]
    weights = WORDS["class_weights"][train["class_weights"]]
    return {"batch_size": train["batch_size"], "class_weights": weights}


def augment_defaults(config: Config, kind: str) -> dict[str, Any]:
    """What a row may change of the transforms: which there are, and their strengths."""
    section = config["augment"][kind]
    if kind == "tabular":
        return dict(section)
    strengths = {k: v for k, v in section["color"].items() if k != "p"}
    return {**dict.fromkeys(section, True), **strengths}


# ---- data


def split_settings(config: Config, dataset: Dataset) -> dict[str, Any]:
    """What iunet.data.split.split_table or split_images takes."""
    section, kind = config["split"], dataset.kind
    shares = {f"{part}_share": share for part, share in section[kind].items()}
    extra = {"max_categories": section["max_categories"]} if kind == "tabular" else {}
    return {"seed": section["seed"], **shares, **extra}


# ---- networks


def network_kind(network: str) -> str:
    """The kind of data that a network is for."""
    return network_entry(base_network(network)).kind


def network_settings(config: Config, network: str) -> dict[str, Any]:
    """The network's name and options, from its name in the path (`mlp_vis-alpha4`)."""
    name = base_network(network)
    options = parse_variant(network_variant(network), config["networks"][name])
    return {"name": name, "options": without_off("network", options)}


def init_settings(config: Config, initial: str) -> str:
    """How θ† is drawn: `he_normal` of `initial-he_normal`."""
    return initial.removeprefix(INITIAL).removeprefix("-") or config["init"]


# ---- supernets


def supernet_settings(config: Config, point: Any) -> dict[str, Any]:
    """The fields of iunet.training.supernet.SupernetSettings."""
    name = SupernetName.parse(point.supernet)
    coordinates = {"kappa": float(name.kappa), "objective": name.objective, "seed": int(point.seed)}
    lasso = name.objective == LASSO
    defaults = lasso_defaults(config) if lasso else supernet_defaults(config)
    settings = without_off("supernet", parse_variant(name.variant, defaults) | coordinates)
    if lasso:
        return {**settings, "l1": name.l1, "histograms": False}
    settings["weight"] = settings.pop("lambda")
    settings["histograms"] = config["train"]["histograms"][network_kind(point.network)]
    return settings


def objective_of(supernet: str) -> Objective:
    """The objective's entry in its catalog, from the name of a supernet."""
    return objective_entry(SupernetName.parse(supernet).objective)


def trains_decoder(supernet: str) -> bool:
    """Whether a supernet's objective trains its decoder, or leaves it as it was drawn."""
    return objective_of(supernet).trains_decoder


def supernet_augment(config: Config, point: Any) -> dict[str, Any] | None:
    """The transforms of a supernet's training; None if its objective sees none."""
    if objective_of(point.supernet).views < 2:
        return None
    kind = network_kind(point.network)
    variant = SupernetName.parse(point.supernet).variant
    chosen = parse_variant(variant, augment_defaults(config, kind))
    if kind == "tabular":
        return chosen
    transforms = config["augment"]["vision"]
    strengths = {key: value for key, value in chosen.items() if key not in transforms}
    left = {key: value for key, value in transforms.items() if chosen[key]}
    return {k: {**v, **strengths} if k == "color" else v for k, v in left.items()}


def augment_settings(config: Config, point: Any) -> dict[str, Any]:
    return config["augment"][network_kind(point.network)]


# ---- masks


def cut_settings(config: Config, point: Any) -> dict[str, Any]:
    """The fields of iunet.method.pruning.Cut; a ratio of None keeps what survived."""
    name = CutName.parse(point.cut)
    how = {key: getattr(name, key) for key in OFF["cut"]}
    return {"ratio": name.ratio, **without_off("cut", how), "seed": int(point.seed)}


def seed_of_mask(config: Config, point: Any) -> int:
    """The seed of the supernet that gives the mask: of `other_seed` the next one of the config."""
    seed = int(point.seed)
    if CutName.parse(point.cut).mask != "other_seed":
        return seed
    seeds = config["seeds"]
    if len(seeds) < 2:
        raise UserError(
            f"The cut '{point.cut}' takes the mask of another seed, but the config key 'seeds' "
            "has only one seed. Add a second."
        )
    place = seeds.index(seed) + 1 if seed in seeds else 0
    return seeds[place % len(seeds)]


# ---- fine-tunings


def finetune_settings(config: Config, point: Any) -> dict[str, Any]:
    """The fields of iunet.training.finetune.FinetuneSettings.

    Of a subnetwork, a dense network, or a decoder on a frozen encoder, which has no options of its
    own.
    """
    dense = getattr(point, "dense", None)
    options = DenseName.parse(dense).options if dense else getattr(point, "options", "")
    kind = network_kind(point.network)
    recipe = parse_variant(options, finetune_defaults(config, kind))
    if recipe["schedule"] == usual_schedule(recipe):
        del recipe["schedule"]
    augment = {}
    for name, strengths in config["augment"][kind].items():
        if chosen := recipe.pop(name):  # True, or another strength
            augment[name] = strengths if chosen is True else chosen
    if augment:
        recipe["augment"] = augment
    return {
        **without_off("finetune", recipe),
        "optimiser": config["train"][f"finetune_{kind}"]["optimiser"]["name"],
        "seed": int(point.seed),
    }


def epochs_of(recipe: dict[str, Any]) -> Epochs:
    """How long a fine-tuning takes, and how many members it has."""
    schedule = schedule_of(recipe)
    members = schedule.member_epochs(recipe.get("snapshot_ensemble", False))
    return Epochs(schedule.epochs, recipe["batch_size"], len(members))


def choice_metric(config: Config, point: Any) -> str:
    """The validation score by which a ratio or l1 is chosen."""
    return config["prune"][network_kind(point.network)]["select_by"]


# ---- tuned learners


def learner_settings(config: Config, learner: str) -> dict[str, Any]:
    """What a trial depends on: all but the budget and the threads.

    Class weights are left out where they are those of the learner's own paper.
    """
    others = ("trials", "per", "minutes", "threads")  # the device is in `devices`
    section = {k: v for k, v in config["tuning"][learner].items() if k not in others}
    if section.get("class_weights") == LEARNERS[learner].class_weights:
        del section["class_weights"]
    return section


def study_budget(config: Config, learner: str) -> dict[str, Any]:
    """Trials of the whole study, and minutes."""
    section = config["tuning"][learner]
    each = LEARNERS[learner].hyperparameters if section["per"] == "hyperparameter" else 1
    return {"trials": section["trials"] * each, "minutes": section["minutes"]}


def refit_parts(config: Config) -> list[str]:
    """The rows on which a tuned learner is fitted again."""
    return ["train", "valid"] if config["tuning"]["refit_on"] == "train_valid" else ["train"]


def study_folder(config: Config, seed: int | str) -> str:
    """The folder of a seed's study: one for all seeds, or its own."""
    return f"tuning-seed{seed}" if config["tuning"]["study_per"] == "seed" else "tuning"


def study_seed(config: Config, study: str) -> int:
    """Of all trials and of the sampler: the run's own if every seed has a study."""
    return int(study.partition("-seed")[2] or 0)


def learner_threads(config: Config, learner: str) -> int:
    return config["tuning"][learner].get("threads", config["train"]["threads"])

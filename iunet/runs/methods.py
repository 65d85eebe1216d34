"""Methods: named rows of the config, as points in the space of runs.

Methods that mean the same run share its path, so nothing is trained twice.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

from iunet.baselines.catalog import LEARNERS
from iunet.errors import UserError, nearest
from iunet.method.catalog import LASSO, OBJECTIVES, SCHEDULES
from iunet.networks.catalog import network_entry
from iunet.runs.names import (
    WORDS,
    CutName,
    DenseName,
    SupernetName,
    parse_value,
    value_text,
    variant_text,
)
from iunet.runs.settings import (
    OFF,
    Config,
    augment_defaults,
    finetune_defaults,
    lasso_defaults,
    network_kind,
    supernet_defaults,
)

RECIPES = ("iunet", "beta_lasso", "dense")
OF_DENSE = ("recipe", "network", "init", "finetune", "reinit", "class_weights", "schedule")
KEYS = {"dense": OF_DENSE, "beta_lasso": (*OF_DENSE, "supernet")}  # those that a recipe uses


@dataclass(frozen=True)
class Method:
    """A row of `methods`, for one network: where its runs lie, below runs/<dataset>/."""

    name: str
    recipe: str  # iunet or beta_lasso (supernet, prune, finetune), dense, or a learner
    network: str  # mlp_vis, mlp_vis-alpha4; xgb
    supernets: tuple[str, ...] = ()  # kappa0.25-ilo; one for each l1 of β-LASSO; dense
    cuts: tuple[str, ...] = ()  # ratio8, survivors; none if the supernet is the result

    @property
    def tuned(self) -> bool:
        return self.recipe in LEARNERS

    @property
    def stage(self) -> str:
        """Which kind of evaluation is the method's result."""
        if self.tuned or self.recipe == "dense":
            return "tuned" if self.tuned else "dense"
        return "subnetwork" if self.cuts else "supernet"

    @property
    def needs_another_seed(self) -> bool:
        """Its masks come from the next seed's supernet."""
        return any(CutName.parse(cut).mask == "other_seed" for cut in self.cuts)

    def candidates(self) -> list[tuple[str, str]]:
        """The subnetworks among which one is chosen on validation data: (supernet, cut)."""
        return [(supernet, cut) for supernet in self.supernets for cut in self.cuts]


def resolve_method(config: Config, name: str, network: str) -> Method:
    """The method of that name on a network, its defaults filled in."""
    return resolve_row(config, name, config["methods"][name], network)


def resolve_row(config: Config, name: str, row: dict[str, Any], network: str) -> Method:
    recipe = row.get("recipe", "iunet")
    if recipe not in RECIPES and recipe not in LEARNERS:
        known = (*RECIPES, *LEARNERS)
        raise UserError(
            f"The config key 'methods.{name}.recipe' is '{recipe}', but must be one of "
            f"{', '.join(known)}.{nearest(recipe, known)}"
        )
    _refuse_ignored(name, row)
    if recipe in LEARNERS:
        return Method(name, recipe, recipe)
    kind = network_kind(network)
    options = _known(row.get("network", {}), config["networks"][network], f"methods.{name}.network")
    network_name = network + variant_text(options, config["networks"][network])
    init = initialisation(config, row, network)
    init_text = "" if init == config["init"] else f"-{init}"
    defaults = finetune_defaults(config, kind)
    finetune = _known(row.get("finetune", {}), defaults, f"methods.{name}.finetune")
    words = path_words(row, "class_weights", "reinit", "schedule")
    _check_schedule(name, words, defaults, kind)
    finetune_options = variant_text({**finetune, **words}, defaults)
    if recipe == "dense":
        dense = DenseName(init_text, finetune_options)
        return Method(name, recipe, network_name, (str(dense),))
    if recipe == "beta_lasso":
        return _lasso_method(config, name, row, network_name, init_text, finetune_options)
    for key in ("kappa", "objective"):
        if key not in row:
            raise UserError(f"The config lacks the key 'methods.{name}.{key}'.")
    _check_exact(row["kappa"], f"methods.{name}.kappa")
    own = _known(row.get("supernet", {}), supernet_defaults(config), f"methods.{name}.supernet")
    transforms = _transforms_of(config, name, row, kind)
    defaults = supernet_defaults(config) | augment_defaults(config, kind)
    weights = path_words(row, "class_weights")
    variant = variant_text({**own, **weights, **transforms}, defaults)
    supernet = SupernetName(row["kappa"], row["objective"], init=init_text, variant=variant)
    ratios = row.get("ratios", config["prune"][kind]["ratios"]) if row.get("prune", True) else []
    for ratio in ratios:
        _check_exact(ratio, f"methods.{name}.ratios")
    how = {key: row.get(key, off) for key, off in OFF["cut"].items()}
    cuts = tuple(str(CutName(ratio, **how, options=finetune_options)) for ratio in ratios)
    return Method(name, recipe, network_name, (str(supernet),), cuts)


def path_words(row: dict[str, Any], *keys: str) -> dict[str, str]:
    """Those of a row's options that are words, as a path calls them."""
    return {key: WORDS[key][row[key]] for key in keys if key in row}


def _transforms_of(config: Config, name: str, row: dict[str, Any], kind: str) -> dict[str, Any]:
    """The key `augment` of a row: {only: [horiz]}, or strengths."""
    changes = dict(row.get("augment", {}))
    known = augment_defaults(config, kind)
    transforms = [key for key, value in known.items() if value is True]
    if "only" in changes:
        only = changes.pop("only")
        for transform in only:
            if transform not in transforms:
                raise UserError(
                    f"The config key 'methods.{name}.augment.only' names '{transform}', which is "
                    f"no transform of {kind} data.{nearest(transform, transforms)}"
                )
        changes |= {key: False for key in transforms if key not in only}
    return _known(changes, known, f"methods.{name}.augment")


def _lasso_method(
    config: Config, name: str, row: dict[str, Any], network: str, init: str, options: str
) -> Method:
    """One supernet for each l1 of the grid."""
    defaults = lasso_defaults(config)
    own = _known(row.get("supernet", {}), defaults, f"methods.{name}.supernet")
    variant = variant_text({**own, **path_words(row, "class_weights")}, defaults)
    for l1 in config["beta_lasso"]["l1"]:
        _check_exact(l1, "beta_lasso.l1")
    supernets = (SupernetName(1, LASSO, l1, init, variant) for l1 in config["beta_lasso"]["l1"])
    cuts = (str(CutName(None, options=options)),)
    return Method(name, "beta_lasso", network, tuple(map(str, supernets)), cuts)


def initialisation(config: Config, row: dict[str, Any], network: str) -> str:
    """How θ† is drawn; resnet18 keeps torchvision's way whatever a row says."""
    own = network_entry(network).own_init
    return config["init"] if own else row.get("init", config["init"])


def config_with_row(config: Config, row: dict[str, Any], network: str) -> Config:
    """The config with a row's changes where their defaults are, to be checked like these."""
    changed = copy.deepcopy(config)
    changed["networks"][network] |= row.get("network", {})
    train = changed["train"]
    transforms = changed["augment"][network_kind(network)]
    strengths = transforms.get("color", transforms)
    strengths |= {k: v for k, v in row.get("augment", {}).items() if k in strengths}
    lasso = [changed["beta_lasso"]] if row.get("recipe") == "beta_lasso" else []
    places = {
        "supernet": [*lasso, train["supernet"]],
        "finetune": [train[f"finetune_{network_kind(network)}"]],
    }
    for key, sections in places.items():
        known = [part for section in sections for part in (section, section["optimiser"])]
        for option, value in row.get(key, {}).items():
            next(part for part in (*known, train) if option in part)[option] = value
    return changed


def _known(options: dict[str, Any], defaults: dict[str, Any], key: str) -> dict[str, Any]:
    for option, value in options.items():
        if option not in defaults:
            raise UserError(
                f"The config has the unknown key '{key}.{option}'.{nearest(option, defaults)} "
                f"Known here are: {', '.join(sorted(defaults))}."
            )
        _check_exact(value, f"{key}.{option}")
    return options


def _check_exact(value: float | bool, key: str) -> None:
    """Settings are read back from paths, so a path must be able to say them."""
    if parse_value(value_text(value)) != value:
        raise UserError(
            f"The config key '{key}' is {value!r}, but the path of a run holds six digits of it "
            f"({value_text(value)}), so another run would be made. Round the value."
        )


# ---- keys that would change nothing: who wrote them expects otherwise


def _refuse_ignored(name: str, row: dict[str, Any]) -> None:
    """Name the first key of a row that its recipe, objective or `prune` makes idle."""
    recipe = row.get("recipe", "iunet")
    used = ("recipe",) if recipe in LEARNERS else KEYS.get(recipe, row)
    for key in row:
        if key not in used:
            raise UserError(
                f"The config key 'methods.{name}.{key}' is not for the recipe '{recipe}', which "
                f"uses {', '.join(used)} and nothing else."
            )
    if recipe == "dense" and row.get("reinit") == "none":
        raise UserError(
            f"The config key 'methods.{name}.reinit' is 'none', but the recipe 'dense' has no "
            "supernet to take trained weights from."
        )
    if row.get("objective") in OBJECTIVES:
        _refuse_ignored_by_objective(name, row)
    if row.get("prune", True) is False:
        for key in ("ratios", "mask", "score", "structure", "reinit", "schedule", "finetune"):
            if key in row:
                raise UserError(
                    f"The config key 'methods.{name}.{key}' has no effect: with prune: false the "
                    "supernet is the result, and nothing is pruned or fine-tuned."
                )


def _refuse_ignored_by_objective(name: str, row: dict[str, Any]) -> None:
    objective = OBJECTIVES[row["objective"]]
    if "lambda" in row.get("supernet", {}) and not objective.weighted:
        raise UserError(
            f"The config key 'methods.{name}.supernet.lambda' has no effect: the objective "
            f"{row['objective']} has no second term that λ could weigh."
        )
    if row.get("augment") and objective.views < 2:
        raise UserError(
            f"The config key 'methods.{name}.augment' has no effect: the objective "
            f"{row['objective']} transforms nothing."
        )


def _check_schedule(name: str, words: dict[str, str], defaults: dict[str, Any], kind: str) -> None:
    """The recipe has the keys that its learning-rate schedule needs."""
    where = f"methods.{name}.schedule" if "schedule" in words else f"train.finetune_{kind}.schedule"
    schedule = words.get("schedule", defaults["schedule"])
    for key in SCHEDULES[schedule].needs:
        if key not in defaults:
            raise UserError(
                f"The config key '{where}' is '{schedule}', which needs the key "
                f"'train.finetune_{kind}.{key}', and the recipe of {kind} data has none."
            )

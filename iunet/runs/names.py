"""The space of runs: methods of the config as coordinates, and coordinates as paths.

A run is a point (dataset, network, kappa, objective, ratio, seed). Its path reads as the
experiment, and whatever differs from the config's default is in it:

    runs/cifar10/mlp_vis/kappa0.25-ilo/seed0/ratio8/
    runs/cifar10/mlp_vis-alpha4/kappa0.25-ilo-lambda0.5/seed0/ratio8-weight_decay0.1/
    runs/cifar10/mlp_vis/kappa1-lasso0.00001/seed0/survivors/
    runs/vehicle/mlp_tab/dense-glorot/seed0/
    runs/vehicle/xgb/seed0/

β-LASSO is an objective whose name holds its l1; its cut has no ratio, but keeps what survives.

Methods that mean the same run share its path, so nothing is trained twice. A path says everything,
so Snakemake can be asked for any point, whether or not a method of the config names it. Imported at
every start of Snakemake: standard library only.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from iunet.errors import UserError, nearest

INITS = ("torch_default", "he_normal", "glorot")
OBJECTIVES = ("sup", "scl", "ilo")
# Recipes that search their hyperparameters, and how many they have (40·D trials in the paper).
TUNED = {"xgb": 15, "tabnet": 11, "mlp_c": 19}
SURVIVORS = "survivors"  # the cut of β-LASSO
NETWORK_KIND = {"mlp_vis": "vision", "cnn": "vision", "resnet18": "vision", "mlp_tab": "tabular"}
VALUE = r"[0-9.]+|on|off"


# ---- values in paths


def value_text(value: float | bool) -> str:
    """0.25, 8, on: short, and without an exponent, whose sign would look like a separator."""
    if isinstance(value, bool):
        return "on" if value else "off"
    rounded = Decimal(format(value, ".6g"))
    text = format(rounded, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def parse_value(text: str) -> float | int | bool:
    if text in ("on", "off"):
        return text == "on"
    return float(text) if "." in text else int(text)


def variant_text(options: dict[str, Any], defaults: dict[str, Any]) -> str:
    """`-key` and value for every option that differs from its default, in the order of keys."""
    different = sorted(key for key in options if options[key] != defaults[key])
    return "".join(f"-{key}{value_text(options[key])}" for key in different)


def parse_variant(text: str, defaults: dict[str, Any]) -> dict[str, Any]:
    """The defaults, with what a variant's text changes."""
    found = {key: parse_value(value) for key, value in re.findall(rf"-([a-z_]+)({VALUE})", text)}
    return {**defaults, **found}


def variant_pattern(keys: Iterable[str]) -> str:
    """A regular expression for the variants over these keys, for wildcard constraints."""
    names = "|".join(sorted(keys))
    return rf"(-({names})({VALUE}))*"


# ---- defaults, from the config


def network_options(config: dict, network: str) -> dict[str, Any]:
    """The options of a network named as in a path (`mlp_vis-alpha4`)."""
    name = network.split("-")[0]
    return parse_variant(network[len(name) :], config["networks"][name])


def supernet_defaults(config: dict) -> dict[str, Any]:
    section = config["train"]["supernet"]
    optimiser = {k: v for k, v in section["optimiser"].items() if k != "name"}
    batch_size = config["train"]["batch_size"]
    return {
        "lambda": section["lambda"],
        "epochs": section["epochs"],
        "batch_size": batch_size,
    } | optimiser


def lasso_defaults(config: dict) -> dict[str, Any]:
    """Of β-LASSO's supernets; l1 is no default, but a coordinate."""
    section = config["beta_lasso"]
    return {
        "beta": section["beta"],
        "epochs": config["train"]["supernet"]["epochs"],
        "batch_size": config["train"]["batch_size"],
        "lr": section["optimiser"]["lr"],
    }


def finetune_defaults(config: dict, kind: str) -> dict[str, Any]:
    section = dict(config["train"][f"finetune_{kind}"])
    optimiser = section.pop("optimiser")
    section["batch_size"] = config["train"]["batch_size"]
    return {**section, **{k: v for k, v in optimiser.items() if k != "name"}}


# ---- methods


@dataclass(frozen=True)
class Method:
    """A row of `methods`, for one network: where its runs lie, below runs/<dataset>/."""

    name: str
    recipe: str  # iunet (supernet, prune, finetune), beta_lasso (likewise), dense, or a tuned one
    network: str  # mlp_vis, mlp_vis-alpha4; xgb
    supernets: tuple[str, ...] = ()  # kappa0.25-ilo; one for each l1 of β-LASSO; dense
    cuts: tuple[str, ...] = ()  # ratio8, survivors; none if the supernet is the result

    def candidates(self) -> list[tuple[str, str]]:
        """The subnetworks among which one is chosen on validation data: (supernet, cut)."""
        return [(supernet, cut) for supernet in self.supernets for cut in self.cuts]

    def tuning(self) -> str:
        """What differs in the fine-tuning, as the names of the cuts say it."""
        return tuning_of(self.cuts[0]) if self.cuts else ""


def tuning_of(cut: str) -> str:
    """`-weight_decay0.1` of `ratio8-weight_decay0.1`."""
    return cut[len(cut.split("-")[0]) :]


def ratio_of(cut: str) -> float | None:
    """The ratio in the name of a cut, `ratio8` or `ratio8-weight_decay0.1`; None of survivors."""
    name = cut.split("-")[0]
    return None if name == SURVIVORS else float(name.removeprefix("ratio"))


def l1_of(supernet: str) -> float | None:
    """The l1 in the name of a supernet, `kappa1-lasso0.00001`; None of one that has none."""
    found = re.match(r"kappa[0-9.]+-lasso([0-9.]+)", supernet)
    return float(found[1]) if found else None


def resolve_method(config: dict, name: str, network: str) -> Method:
    """The method of that name on a network, its defaults filled in."""
    row = config["methods"][name]
    recipe = row.get("recipe", "iunet")
    if recipe in TUNED:
        return _tuned_method(name, row)
    kind = NETWORK_KIND[network]
    options = _known(row.get("network", {}), config["networks"][network], f"methods.{name}.network")
    network_name = network + variant_text(options, config["networks"][network])
    init = initialisation(config, row, network)
    init_text = "" if init == config["init"] else f"-{init}"
    defaults = finetune_defaults(config, kind)
    finetune = _known(row.get("finetune", {}), defaults, f"methods.{name}.finetune")
    tuning = variant_text(finetune, defaults)
    if recipe == "dense":
        return Method(name, recipe, network_name, (f"dense{init_text}{tuning}",))
    if recipe == "beta_lasso":
        return _lasso_method(config, name, network_name, init_text, tuning)
    for key in ("kappa", "objective"):
        if key not in row:
            raise UserError(f"The config lacks the key 'methods.{name}.{key}'.")
    _check_exact(row["kappa"], f"methods.{name}.kappa")
    own = _known(row.get("supernet", {}), supernet_defaults(config), f"methods.{name}.supernet")
    variant = init_text + variant_text(own, supernet_defaults(config))
    supernet = f"kappa{value_text(row['kappa'])}-{row['objective']}{variant}"
    ratios = row.get("ratios", config["prune"][kind]["ratios"]) if row.get("prune", True) else []
    for ratio in ratios:
        _check_exact(ratio, f"methods.{name}.ratios")
    cuts = tuple(f"ratio{value_text(ratio)}{tuning}" for ratio in ratios)
    return Method(name, recipe, network_name, (supernet,), cuts)


def _tuned_method(name: str, row: dict[str, Any]) -> Method:
    if extra := sorted(set(row) - {"recipe"}):
        raise UserError(
            f"The config key 'methods.{name}.{extra[0]}' is not for the recipe '{row['recipe']}', "
            "which searches its hyperparameters itself (config section 'tuning')."
        )
    return Method(name, row["recipe"], row["recipe"])


def _lasso_method(config: dict, name: str, network: str, init_text: str, tuning: str) -> Method:
    """One supernet for each l1 of the grid."""
    row = config["methods"][name]
    for key in ("kappa", "objective", "ratios", "prune"):
        if key in row:
            raise UserError(
                f"The config key 'methods.{name}.{key}' is not for the recipe 'beta_lasso', which "
                "has its own loss and keeps the weights that survive it."
            )
    defaults = lasso_defaults(config)
    own = _known(row.get("supernet", {}), defaults, f"methods.{name}.supernet")
    variant = init_text + variant_text(own, defaults)
    for l1 in config["beta_lasso"]["l1"]:
        _check_exact(l1, "beta_lasso.l1")
    supernets = (f"kappa1-lasso{value_text(l1)}{variant}" for l1 in config["beta_lasso"]["l1"])
    return Method(name, "beta_lasso", network, tuple(supernets), (f"{SURVIVORS}{tuning}",))


def initialisation(config: dict, row: dict[str, Any], network: str) -> str:
    """How θ† is drawn; resnet18 keeps torchvision's way whatever a row says."""
    return config["init"] if network == "resnet18" else row.get("init", config["init"])


def config_with_row(config: dict, name: str, network: str) -> dict:
    """The config with a row's changes where their defaults are, to be checked like these."""
    changed, row = copy.deepcopy(config), config["methods"][name]
    changed["networks"][network] |= row.get("network", {})
    train = changed["train"]
    lasso = [changed["beta_lasso"]] if row.get("recipe") == "beta_lasso" else []
    places = {
        "supernet": [*lasso, train["supernet"]],
        "finetune": [train[f"finetune_{NETWORK_KIND[network]}"]],
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


def method_parameters(config: dict, method: Method) -> dict[str, Any]:
    """Exact values of all that a row decides, to find rows that a path cannot tell apart."""
    if method.recipe in TUNED:
        return {}
    row = config["methods"][method.name]
    kind = NETWORK_KIND[method.network.split("-")[0]]
    return {
        "network": network_options(config, method.network.split("-")[0]) | row.get("network", {}),
        "init": initialisation(config, row, method.network.split("-")[0]),
        "kappa": row.get("kappa"),
        "objective": row.get("objective"),
        "supernet": _supernet_defaults_of(config, method) | row.get("supernet", {}),
        "finetune": finetune_defaults(config, kind) | row.get("finetune", {}),
    }


def _supernet_defaults_of(config: dict, method: Method) -> dict[str, Any]:
    return (lasso_defaults if method.recipe == "beta_lasso" else supernet_defaults)(config)

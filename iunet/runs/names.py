"""The names of runs: what a path says of a run, printed and read back.

A run is a point (dataset, network, supernet, cut, seed). Its path reads as the experiment, and
whatever differs from the config's default is in it:

    runs/cifar10/mlp_vis/kappa0.25-ilo/seed0/ratio8/
    runs/cifar10/mlp_vis-alpha4/kappa0.25-ilo-lambda0.5/seed0/ratio8-weight_decay0.1/
    runs/cifar10/mlp_vis/kappa1-lasso0.00001/seed0/survivors/
    runs/vehicle/mlp_tab/kappa0.25-ilo/seed0/ratio8-relative-shuffled-fresh/
    runs/vehicle/mlp_tab/dense-glorot/seed0/
    runs/vehicle/xgb/seed0/

β-LASSO is an objective with its l1 in the name; its cut has no ratio, but keeps what survives. A
path says everything, so Snakemake can be asked for any point, whether or not a method of the config
names it; and each point has one name, so nothing is trained twice.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from iunet.errors import UserError
from iunet.method.catalog import LASSO, OBJECTIVES, SCHEDULES, SCORES

INITS = ("torch_default", "he_normal", "glorot")
SURVIVORS = "survivors"  # the cut of β-LASSO
INITIAL, DENSE = "initial", "dense"
VALUE = r"[0-9.]+|on|off"
# Options with words as values appear in a path as the word alone: config's word → path's word.
WORDS = {
    "reinit": {"initial": "initial", "fresh": "fresh", "none": "trained"},
    "class_weights": {"none": "unweighted", "balanced": "balanced"},
    "schedule": {name: name for name in SCHEDULES},
}
OPTIONS = r"(?:-[a-z0-9_.]+)*"  # behind a name: what differs from the defaults
KEY_OF_WORD = {word: key for key, words in WORDS.items() for word in words.values()}


# ---- values


def value_text(value: float | bool) -> str:
    """0.25, 8, on: short, and without an exponent: its sign would look like a separator."""
    if isinstance(value, bool):
        return "on" if value else "off"
    rounded = Decimal(format(value, ".6g"))
    text = format(rounded, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def parse_value(text: str) -> float | int | bool:
    if text in ("on", "off"):
        return text == "on"
    try:
        return float(text) if "." in text else int(text)
    except ValueError:
        raise UserError(f"'{text}' in a path is not a number.") from None


# ---- options that differ from their defaults


def variant_text(options: dict[str, Any], defaults: dict[str, Any]) -> str:
    """`-key` and value for every option that differs from its default, in the order of keys."""
    different = sorted(key for key in options if options[key] != defaults[key])
    texts = (options[key] if key in WORDS else key + value_text(options[key]) for key in different)
    return "".join(f"-{text}" for text in texts)


def parse_changes(text: str) -> dict[str, Any]:
    """The options that a variant's text changes; other text is ignored."""
    changes: dict[str, Any] = {}
    for part in text.split("-")[1:]:
        if part in KEY_OF_WORD:
            changes[KEY_OF_WORD[part]] = part
        elif found := re.fullmatch(rf"([a-z_]+?)({VALUE})", part):
            changes[found[1]] = parse_value(found[2])
    return changes


def parse_variant(text: str, defaults: dict[str, Any]) -> dict[str, Any]:
    """The defaults, with what a variant's text changes of them."""
    changes = parse_changes(text)
    return {key: changes.get(key, value) for key, value in defaults.items()}


# ---- the parts of a path


def base_network(network: str) -> str:
    """The network without its options: `mlp_vis` of `mlp_vis-alpha4`."""
    return network.partition("-")[0]


def network_variant(network: str) -> str:
    return network[len(base_network(network)) :]


INIT_PATTERN = rf"(?:-(?:{'|'.join(INITS)}))?"


def _parts(form: str, text: str, what: str, how: str) -> re.Match[str]:
    found = re.fullmatch(form, text)
    if found is None:
        raise UserError(f"'{text}' is not the name of a {what}. Write it as {how}.")
    return found


@dataclass(frozen=True)
class SupernetName:
    """`kappa0.25-ilo-he_normal-lambda0.5`."""

    kappa: float
    objective: str  # of the catalog, or lasso
    l1: float | None = None  # β-LASSO's
    init: str = ""  # -he_normal; empty if it is the config's
    variant: str = ""  # -lambda0.5

    PARTS = (
        rf"kappa(?P<kappa>[0-9.]+)-(?:(?P<objective>{'|'.join(OBJECTIVES)})|{LASSO}(?P<l1>[0-9.]+))"
        rf"(?P<init>{INIT_PATTERN})(?P<variant>{OPTIONS})"
    )

    @classmethod
    @functools.cache
    def parse(cls, text: str) -> SupernetName:
        objectives = f"{', '.join(OBJECTIVES)} or {LASSO}<number>"
        how = f"kappa<number>-<objective>, such as kappa0.25-ilo, with {objectives}"
        found = _parts(cls.PARTS, text, "supernet", how)
        kappa, objective = parse_value(found["kappa"]), found["objective"] or LASSO
        l1 = float(parse_value(found["l1"])) if found["l1"] else None
        return cls(kappa, objective, l1, found["init"], found["variant"])

    def __str__(self) -> str:
        l1 = "" if self.l1 is None else value_text(self.l1)
        return f"kappa{value_text(self.kappa)}-{self.objective}{l1}{self.init}{self.variant}"

    @property
    def initial(self) -> str:
        """The name of the initial weights that it is trained from."""
        return INITIAL + self.init


STRUCTURES = {"weight": "ratio", "unit": "units"}  # what is pruned, and how a cut of it begins
# Where a mask comes from.
MASKS = ("own", "shuffled", "shuffled_strata", "random", "other_seed", "initial")
DEFAULT_SCORE, *OTHER_SCORES = SCORES


@dataclass(frozen=True)
class CutName:
    """`ratio8-relative-shuffled`: a mask; behind it the finetune options that are no defaults."""

    ratio: float | None  # None: what survived
    structure: str = "weight"
    score: str = DEFAULT_SCORE
    mask: str = MASKS[0]
    options: str = ""  # -fresh-weight_decay0.1

    PARTS = (  # without the options
        rf"(?:{SURVIVORS}|(?P<structure>{'|'.join(STRUCTURES.values())})(?P<ratio>[0-9.]+)"
        rf"(?:-(?P<score>{'|'.join(OTHER_SCORES)}))?(?:-(?P<mask>{'|'.join(MASKS[1:])}))?)"
    )

    @classmethod
    @functools.cache
    def parse(cls, text: str) -> CutName:
        form = rf"{cls.PARTS}(?P<options>{OPTIONS})"
        found = _parts(form, text, "cut", "ratio8, units8 or survivors")
        if found["ratio"] is None:
            return cls(None, options=found["options"])
        structure = next(k for k, start in STRUCTURES.items() if start == found["structure"])
        return cls(
            parse_value(found["ratio"]),
            structure,
            found["score"] or DEFAULT_SCORE,
            found["mask"] or MASKS[0],
            found["options"],
        )

    @property
    def folder(self) -> str:
        """The name of the mask, without the finetune options."""
        if self.ratio is None:
            return SURVIVORS
        words = [STRUCTURES[self.structure] + value_text(self.ratio)]
        words += [self.score] if self.score != DEFAULT_SCORE else []
        words += [self.mask] if self.mask != MASKS[0] else []
        return "-".join(words)

    def __str__(self) -> str:
        return self.folder + self.options


@dataclass(frozen=True)
class DenseName:
    """`dense-glorot-weight_decay0.1`."""

    init: str = ""
    options: str = ""

    PARTS = rf"{DENSE}(?P<init>{INIT_PATTERN})(?P<options>{OPTIONS})"

    @classmethod
    def parse(cls, text: str) -> DenseName:
        found = _parts(cls.PARTS, text, "dense network", "dense or dense-glorot")
        return cls(found["init"], found["options"])

    def __str__(self) -> str:
        return DENSE + self.init + self.options

    @property
    def initial(self) -> str:
        return INITIAL + self.init

"""Methods: named rows of the config, as points in the space of runs.

Methods that mean the same run share its path, so nothing is trained twice.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from iunet.baselines.catalog import LEARNERS
from iunet.errors import UserError, nearest
from iunet.method.catalog import LASSO, OBJECTIVES, SCHEDULES
from iunet.networks.catalog import network_entry
from iunet.runs.names import WORDS, CutName, DenseName, SupernetName, variant_text
from iunet.runs.settings import (
    OFF,
    Config,
    augment_defaults,
    finetune_defaults,
    lasso_defaults,
    network_kind,
    supernet_defaults,
)

OF_DENSE = ("recipe", "network", "init", "finetune", "reinit", "class_weights", "schedule")
KEYS = {"dense": OF_DENSE, "beta_lasso": (*OF_DENSE, "supernet")}  # those that a recipe uses
# What the names of the paper mean. A row of such a name must mean the same.
OF_THE_PAPER: dict[str, dict[str, Any]] = {
    "dense": {"recipe": "dense"},
    "omp": {"kappa": 1, "objective": "sup"},
    "iunet": {"objective": "ilo"},
    "iunet_no_ilo": {"objective": "sup"},
    "iunet_no_pis": {"kappa": 1, "objective": "ilo"},
    "iunet_no_prune": {"objective": "ilo", "prune": False},
    "scl": {"kappa": 1, "objective": "scl"},
    **{recipe: {"recipe": recipe} for recipe in ("beta_lasso", *LEARNERS)},
}
OF_CUTS = ("ratios", "mask", "score", "structure", "reinit", "schedule", "finetune")


@dataclass(frozen=True)
class Method:
    """A row of `methods` for one network: the folders of its runs, below runs/<dataset>/."""

    name: str
    recipe: str  # iunet or beta_lasso (supernet, prune, finetune), dense, or a learner
    network: str  # mlp_vis, mlp_vis-alpha4; xgb
    supernets: tuple[str, ...] = ()  # kappa0.25-ilo; one for each l1 of β-LASSO; dense
    cuts: tuple[str, ...] = ()  # ratio8, survivors; none if the supernet is the result

    @property
    def tuned(self) -> bool:
        return self.recipe in LEARNERS

    @property
    def results(self) -> list[str]:
        """The networks among which its result is.

        A subnetwork is named `kappa0.25-ilo/ratio8`, others by their supernet, `dense`, or learner.
        """
        cuts = [f"{supernet}/{cut}" for supernet, cut in self.candidates()]
        return cuts or list(self.supernets) or [self.network]

    def stage_of(self, name: str) -> str:
        """Which kind of network that is, by the stage that makes it."""
        if self.tuned or self.recipe == "dense":
            return "tuned" if self.tuned else "dense"
        return "subnetwork" if "/" in name else "supernet"

    @property
    def needs_another_seed(self) -> bool:
        """Its masks come from the next seed's supernet."""
        return any(CutName.parse(cut).mask == "other_seed" for cut in self.cuts)

    def candidates(self) -> list[tuple[str, str]]:
        """The subnetworks among which one is chosen on validation data: (supernet, cut)."""
        return [(supernet, cut) for supernet in self.supernets for cut in self.cuts]


def resolve_method(config: Config, name: str, network: str) -> Method:
    """The method of that name on a network, its defaults filled in."""
    row, key, kind = config["methods"][name], f"methods.{name}", network_kind(network)
    _refuse_borrowed_name(name, row)
    for idle, why in _ignored(row):
        raise UserError(f"The config key '{key}.{idle}' {why}.")
    recipe = row.get("recipe", "iunet")
    if recipe in LEARNERS:
        return Method(name, recipe, recipe)
    sizes = config["networks"][network]
    network_name = network + variant_text(_changes(row, "network", sizes, key), sizes)
    # resnet18 keeps torchvision's way to draw θ†, whatever a row says.
    init = config["init"] if network_entry(network).own_init else row.get("init", config["init"])
    init_text = "" if init == config["init"] else f"-{init}"
    words = {option: WORDS[option][row[option]] for option in WORDS if option in row}
    recipe_defaults = finetune_defaults(config, kind)
    _check_schedule(key, words, recipe_defaults, kind)
    finetune = _finetune_changes(row, recipe_defaults, config["augment"][kind], key) | words
    options = variant_text(finetune, recipe_defaults)
    if recipe == "dense":
        return Method(name, recipe, network_name, (str(DenseName(init_text, options)),))
    lasso = recipe == "beta_lasso"
    defaults = lasso_defaults(config) if lasso else supernet_defaults(config)
    transforms = augment_defaults(config, kind)
    changes = _changes(row, "supernet", defaults, key) | _transforms(row, transforms, key)
    changes |= {option: word for option, word in words.items() if option in defaults}
    variant = variant_text(changes, transforms | defaults)
    if lasso:  # one supernet for each l1 of the grid
        points = [(1, LASSO, l1) for l1 in config["beta_lasso"]["l1"]]
        cuts = [CutName(None, options=options)]
    else:
        points = [(row["kappa"], row["objective"], None)]
        ratios = row.get("ratios", config["prune"][kind]["ratios"])
        how = {option: row.get(option, off) for option, off in OFF["cut"].items()}
        cuts = [CutName(r, **how, options=options) for r in ratios if row.get("prune", True)]
    supernets = [SupernetName(*point, init_text, variant) for point in points]
    return Method(name, recipe, network_name, tuple(map(str, supernets)), tuple(map(str, cuts)))


def _refuse_borrowed_name(name: str, row: dict[str, Any]) -> None:
    if name not in OF_THE_PAPER:
        return
    defaults = {"recipe": "iunet", "prune": True, **OFF["cut"], "reinit": "initial"}
    for part, meant in (defaults | OF_THE_PAPER[name]).items():
        if row.get(part, defaults.get(part, meant)) != meant:
            found = row.get(part, defaults.get(part))
            raise UserError(
                f"The config key 'methods.{name}' has {part}: {found}, but the paper's '{name}' "
                f"has {part}: {meant}. Give your method another name."
            )


def _changes(row: dict[str, Any], part: str, known: dict[str, Any], key: str) -> dict[str, Any]:
    """What a part of a row, such as `finetune`, changes of its defaults."""
    changes = row.get(part, {})
    for option in changes:
        if option not in known:
            raise UserError(
                f"The config has an unknown key '{key}.{part}.{option}'.{nearest(option, known)} "
                f"Known keys here: {', '.join(sorted(known))}."
            )
    return changes


def _finetune_changes(
    row: dict[str, Any], known: dict[str, Any], transforms: dict[str, Any], key: str
) -> dict[str, Any]:
    """What `finetune` of a row changes; its `augment` switches transforms on, which are off."""
    changes = dict(row.get("finetune", {}))
    augment = changes.pop("augment", {})
    augment = {"only": list(transforms)} if augment == "all" else dict(augment)
    for name in augment.pop("only", ()):
        value = transforms.get(name, {})
        augment[name] = True if isinstance(value, dict) else value  # SCARF is its rate
    others = {option: value for option, value in known.items() if option not in transforms}
    changes = _changes({"finetune": changes}, "finetune", others, key)
    return changes | _changes({"augment": augment}, "augment", transforms, f"{key}.finetune")


def _transforms(row: dict[str, Any], known: dict[str, Any], key: str) -> dict[str, Any]:
    """What `augment` of a row changes: {only: [horiz]} switches the others off; or strengths."""
    strengths = dict(row.get("augment", {}))
    transforms = [name for name, value in known.items() if value is True]
    only = strengths.pop("only", transforms)
    for transform in only:
        if transform not in transforms:
            raise UserError(
                f"The config key '{key}.augment.only' names '{transform}', which is not a "
                f"transform.{nearest(transform, transforms)} Known: {', '.join(transforms)}."
            )
    off = {transform: False for transform in transforms if transform not in only}
    return _changes({"augment": strengths}, "augment", known, key) | off


def config_with_row(config: Config, row: dict[str, Any], network: str) -> Config:
    """The config with a row's changes where their defaults are, to be checked like these."""
    changed = copy.deepcopy(config)
    kind, train, lasso = network_kind(network), changed["train"], changed["beta_lasso"]
    supernet, finetune = train["supernet"], train[f"finetune_{kind}"]
    transforms = changed["augment"][kind]
    of_lasso = [lasso, lasso["optimiser"]] if row.get("recipe") == "beta_lasso" else []
    places = {
        "network": [changed["networks"][network]],
        "augment": [transforms.get("color", transforms)],
        "supernet": [*of_lasso, supernet, supernet["optimiser"], train],
        "finetune": [finetune, finetune["optimiser"], train],
    }
    for part, sections in places.items():
        for option, value in row.get(part, {}).items():
            if section := next((known for known in sections if option in known), None):
                section[option] = value
    return changed


def _ignored(row: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Keys that would change nothing, with the reason: who wrote them expects otherwise."""
    recipe, objective = row.get("recipe", "iunet"), OBJECTIVES.get(row.get("objective"))
    used = ("recipe",) if recipe in LEARNERS else KEYS.get(recipe, row)
    for key in row:
        if key not in used:
            yield key, f"has no effect: the recipe '{recipe}' uses only {', '.join(used)}"
    if recipe == "dense" and row.get("reinit") == "none":
        yield "reinit", "is 'none', but the recipe 'dense' has no supernet to start from"
    if objective and not objective.weighted and "lambda" in row.get("supernet", {}):
        term = f"the objective {row['objective']} has no second term for λ to weigh"
        yield "supernet.lambda", f"has no effect: {term}"
    if objective and objective.views < 2 and row.get("augment"):
        yield "augment", f"has no effect: the objective {row['objective']} uses no transforms"
    if not row.get("prune", True):
        for key in OF_CUTS:
            if key in row:
                yield key, "has no effect: with prune: false, nothing is pruned or fine-tuned"


def _check_schedule(key: str, words: dict[str, str], recipe: dict[str, Any], kind: str) -> None:
    """The recipe has the keys that its learning-rate schedule needs."""
    section = f"train.finetune_{kind}"
    where = f"{key}.schedule" if "schedule" in words else f"{section}.schedule"
    schedule = words.get("schedule", recipe["schedule"])
    for needed in SCHEDULES[schedule].needs:
        if needed not in recipe:
            raise UserError(
                f"The config key '{where}' is '{schedule}', which needs the key "
                f"'{section}.{needed}': it is missing."
            )

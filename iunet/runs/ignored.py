"""Keys of a row of `methods` that would change nothing: a user who wrote them expects otherwise."""

from __future__ import annotations

from typing import Any

from iunet.errors import UserError

OF_MASKS = ("prune", "ratios", "mask", "score", "structure")
OF_RECIPES = {  # what a recipe has no use for, and why
    "dense": (
        ("kappa", "objective", "augment", "supernet", *OF_MASKS),
        "which trains the network as it is, without a supernet and without a mask",
    ),
    "beta_lasso": (
        ("kappa", "objective", "augment", *OF_MASKS),
        "which has its own loss and keeps the weights that survive it",
    ),
}


def refuse_ignored(name: str, row: dict[str, Any]) -> None:
    """Name the first key of a row that its recipe, objective or `prune` makes idle."""
    recipe = row.get("recipe", "iunet")
    keys, why = OF_RECIPES.get(recipe, ((), ""))
    for key in keys:
        if key in row:
            raise UserError(
                f"The config key 'methods.{name}.{key}' is not for the recipe '{recipe}', {why}."
            )
    if recipe == "dense" and row.get("reinit") == "none":
        raise UserError(
            f"The config key 'methods.{name}.reinit' is 'none', but the recipe 'dense' has no "
            "supernet whose trained weights could stay."
        )
    if recipe == "iunet":
        _refuse_idle(name, row)


def _refuse_idle(name: str, row: dict[str, Any]) -> None:
    objective = row.get("objective")
    if "lambda" in row.get("supernet", {}) and objective in ("sup", "scl"):
        raise UserError(
            f"The config key 'methods.{name}.supernet.lambda' has no effect: λ weighs the two "
            f"terms of the objective ilo, and {objective} has one."
        )
    if row.get("augment") and objective == "sup":
        raise UserError(
            f"The config key 'methods.{name}.augment' has no effect: the objective sup transforms "
            "nothing."
        )
    if row.get("prune", True) is False:
        for key in ("ratios", "mask", "score", "structure", "reinit", "finetune"):
            if key in row:
                raise UserError(
                    f"The config key 'methods.{name}.{key}' has no effect: with prune: false the "
                    "supernet is the result, and nothing is pruned or fine-tuned."
                )

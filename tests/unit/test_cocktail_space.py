"""MLP+C's search space, hyperparameter by hyperparameter, as Optuna sees it."""

from __future__ import annotations

import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

from iunet.baselines.cocktail.settings import Cocktail, from_parameters, suggest

SWITCH = CategoricalDistribution((False, True))
SHAPES = ("funnel", "long_funnel", "diamond", "hexagon", "brick", "triangle", "stairs")
# The space of docs/method.md, section 5: the distribution, and the choice that asks for it.
SPACE = {
    "use_batch_norm": (SWITCH, {}),
    "use_weight_decay": (SWITCH, {}),
    "weight_decay": (FloatDistribution(1e-5, 0.1), {"use_weight_decay": True}),
    "use_dropout": (SWITCH, {}),
    "dropout": (FloatDistribution(0, 0.8), {"use_dropout": True}),
    "dropout_shape": (CategoricalDistribution(SHAPES), {"use_dropout": True}),
    "use_snapshot_ensemble": (SWITCH, {}),
    "use_swa": (SWITCH, {}),
    "use_lookahead": (SWITCH, {}),
    "lookahead_steps": (IntDistribution(5, 10), {"use_lookahead": True}),
    "lookahead_alpha": (FloatDistribution(0.5, 0.8), {"use_lookahead": True}),
    "use_skip_connection": (SWITCH, {}),
    "branch": (
        CategoricalDistribution(("none", "shake_shake", "shake_drop")),
        {"use_skip_connection": True},
    ),
    "shake_drop_probability": (FloatDistribution(0, 1), {"branch": "shake_drop"}),
    "augmentation": (CategoricalDistribution(("none", "mixup", "cutmix", "cutout", "fgsm")), {}),
    "mixup_alpha": (FloatDistribution(0, 1), {"augmentation": "mixup"}),
    "cutmix_probability": (FloatDistribution(0, 1), {"augmentation": "cutmix"}),
    "cutout_ratio": (FloatDistribution(0, 1), {"augmentation": "cutout"}),
    "cutout_probability": (FloatDistribution(0, 1), {"augmentation": "cutout"}),
}


@pytest.fixture(scope="module")
def trials():
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    asked = [study.ask() for _ in range(300)]
    returned = [suggest(trial) for trial in asked]
    return list(zip(asked, returned, strict=True))


def test_hyperparameters_have_their_ranges_and_conditions(trials):
    for trial, parameters in trials:
        wanted = {
            name: distribution
            for name, (distribution, condition) in SPACE.items()
            if condition.items() <= trial.params.items()
        }
        assert trial.distributions == wanted
        assert trial.params == parameters and list(parameters) == list(wanted)
    assert set().union(*(parameters for _, parameters in trials)) == set(SPACE)


def test_stored_parameters_give_the_cocktail(trials):
    for trial, parameters in trials:
        cocktail = from_parameters(trial.params, cycles=1)
        assert cocktail.cycles == 1 and cocktail.width == 512
        for name, value in parameters.items():
            if name in ("use_weight_decay", "use_dropout"):
                assert (getattr(cocktail, name.removeprefix("use_")) is not None) == value
            else:
                assert getattr(cocktail, name.removeprefix("use_")) == value
    nothing = {name: False for name in SPACE if name.startswith("use_")} | {"augmentation": "none"}
    assert from_parameters(nothing) == Cocktail()

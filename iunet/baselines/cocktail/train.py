"""Fitting an MLP+C with one cocktail, and predicting with it.

The loop, its schedule and its checkpoints are those of every other training (iunet/training). A
fit reads and changes no global random state, so that hundreds of them in one process, a fit alone
and a resumed one all end with the same bits.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from iunet.baselines.cocktail.augmenters import augmented_loss
from iunet.baselines.cocktail.network import CocktailNetwork
from iunet.baselines.cocktail.optimisers import average_weights, make_optimiser
from iunet.baselines.cocktail.settings import Cocktail
from iunet.data.load import Inputs, Part
from iunet.method.objectives import balanced_class_weights
from iunet.networks.network import state_tensors
from iunet.scoring.prediction import mean_softmax
from iunet.training.loop import (
    Trained,
    Training,
    check_weights,
    set_batchnorm_statistics,
    stream,
    train,
)
from iunet.training.members import keep_members, split_members
from iunet.training.schedule import schedule_of
from iunet.training.support.checkpoint import Checkpoint

State = dict[str, Tensor]


@dataclass
class Model:
    """A fitted MLP+C: one network, or the members of an ensemble."""

    cocktail: Cocktail
    n_inputs: int
    n_classes: int
    members: list[State]

    def empty_network(self) -> CocktailNetwork:
        """A network without weights: initial ones would be replaced, and need random numbers."""
        with torch.device("meta"):
            return CocktailNetwork(self.cocktail, self.n_inputs, self.n_classes, None)

    def probabilities(self, prepare: Inputs, part: Part) -> Tensor:
        """Mean softmax over the members, [rows, classes]."""
        network = self.empty_network().to_empty(device=part.raw.device)
        return mean_softmax(network, self.members, prepare, part)


def fit(
    cocktail: Cocktail,
    train_part: Part,
    prepare: Inputs,
    n_classes: int,
    seed: int,
    run: str,
    checkpoint: Checkpoint | None = None,
    quiet: bool = False,
) -> tuple[Model, Trained]:
    """Train on `train_part`; a divergence is a `UserError` that names the run.

    The caller removes the checkpoint when its artifacts are written.
    """
    device = train_part.raw.device
    n_inputs = prepare.prepare(train_part.raw[:1]).shape[1]
    noise = stream(seed, "cocktail/noise", device)
    network = initial_network(cocktail, n_inputs, n_classes, seed, noise).to(device)
    training = make_training(cocktail, network, train_part, prepare, n_classes, seed, run)
    training.generators["noise"] = noise
    training.quiet = quiet
    trained = train(training, checkpoint)
    members = _members(cocktail, network, split_members(trained.kept), prepare, train_part)
    for member in members:
        check_weights(run, member)
    return Model(cocktail, n_inputs, n_classes, members), trained


def initial_network(
    cocktail: Cocktail, n_inputs: int, n_classes: int, seed: int, noise: torch.Generator | None
) -> CocktailNetwork:
    """PyTorch's own initialisation, from a separate seed; the global generator is left alone."""
    with torch.random.fork_rng(devices=[]):
        initial = stream(seed, "cocktail/initial", torch.device("cpu"))
        torch.default_generator.set_state(initial.get_state())
        return CocktailNetwork(cocktail, n_inputs, n_classes, noise)


def make_training(
    cocktail: Cocktail,
    network: nn.Module,
    train_part: Part,
    prepare: Inputs,
    n_classes: int,
    seed: int,
    run: str,
) -> Training:
    device = train_part.raw.device
    balanced = cocktail.class_weights == "balanced"
    weights = balanced_class_weights(train_part.labels, n_classes) if balanced else None
    augment = stream(seed, "cocktail/augment", device)
    schedule = schedule_of(vars(cocktail))  # with restarts, as in the fine-tuning of tables

    def loss(rows: Tensor):
        x, labels = prepare.prepare(train_part.raw[rows]), train_part.labels[rows]
        return augmented_loss(cocktail, network, x, labels, weights, augment), {}

    # Averaging needs the same networks as the ensemble.
    several = cocktail.snapshot_ensemble or cocktail.swa
    return Training(
        run,
        network,
        make_optimiser(network, cocktail),
        schedule.epochs,
        cocktail.batch_size,
        len(train_part),
        loss,
        validate=None,
        generators={"order": stream(seed, "cocktail/order", device), "augment": augment},
        lr_at=schedule.lr_at,
        keep=keep_members(network, schedule.member_epochs(several)),
    )


def _members(
    cocktail: Cocktail, network: nn.Module, ends: list[State], prepare: Inputs, train_part: Part
) -> list[State]:
    """The networks that predict, from those at the cycles' ends.

    With SWA one network of mean weights. With the snapshot ensemble too, it takes the place of the
    ensemble's last member, as in the original.
    """
    if not cocktail.swa:
        return ends
    network.load_state_dict(average_weights(ends))
    if cocktail.batch_norm:
        set_batchnorm_statistics(network, prepare, train_part)
    averaged = {name: tensor.clone() for name, tensor in state_tensors(network).items()}
    return [*ends[:-1], averaged] if cocktail.snapshot_ensemble else [averaged]

"""A classifier that is fitted in a blink, for tests of what it takes and refuses."""

from __future__ import annotations

from iunet import IUNetClassifier

SMALL = {
    "width": 16,
    "depth": 2,
    "ratio": 2,
    "supernet_epochs": 2,
    "first_cycle_epochs": 2,
    "cycles": 1,
    "random_state": 0,
}
# In which it learns something, too.
LEARNS = SMALL | {
    "supernet_epochs": 5,
    "supernet_lr": 0.01,
    "finetune_lr": 0.01,
    "first_cycle_epochs": 3,
    "cycles": 2,
}


def classifier(**changes) -> IUNetClassifier:
    return IUNetClassifier(**(SMALL | changes))


def learner(**changes) -> IUNetClassifier:
    return IUNetClassifier(**(LEARNS | changes))

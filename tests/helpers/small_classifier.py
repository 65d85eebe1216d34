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


def classifier(**changes) -> IUNetClassifier:
    return IUNetClassifier(**(SMALL | changes))

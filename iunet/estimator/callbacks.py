"""scikit-learn's callbacks: a fit has two tasks, "supernet" and "finetune", each with its epochs.

They came with scikit-learn 1.9; with an earlier one the classifier has no `set_callbacks`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from iunet.training.support import progress

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in where scikit-learn has none."""

    def with_callbacks(method):  # type: ignore[misc]
        return method


@contextlib.contextmanager
def fit_task(model: Any, X: Any, y: Any) -> Iterator[None]:
    """Inside, the callbacks that were set on the model hear of its trainings and their epochs.

    What they return is not looked at: there is no early stopping, and a model in the middle of its
    fit has no subnetwork yet to be predicted with.
    """
    if not hasattr(model, "_init_callback_context"):
        yield
        return
    data = {"estimator": model, "X": X, "y": y}
    whole = model._init_callback_context(max_subtasks=2)
    whole.call_on_fit_task_begin(**data)
    before, progress.listener = progress.listener, _Tasks(whole, data)
    try:
        yield
    finally:
        progress.listener = before
    whole.call_on_fit_task_end(**data)


class _Tasks:
    """A listener of trainings (`iunet.training.support.progress`) that tells the callbacks."""

    def __init__(self, whole: Any, data: dict[str, Any]):
        self.whole, self.data = whole, data

    def training_begins(self, name: str, epochs: int) -> None:
        self.epochs_left = epochs
        self.training = self.whole.subcontext(task_name=name, max_subtasks=epochs)
        self.training.call_on_fit_task_begin(**self.data)
        self._epoch_begins()

    def epoch_ends(self) -> None:
        self.epoch.call_on_fit_task_end(**self.data)
        self.epochs_left -= 1
        if self.epochs_left:
            self._epoch_begins()
        else:
            self.training.call_on_fit_task_end(**self.data)

    def _epoch_begins(self) -> None:
        self.epoch = self.training.subcontext(task_name="epoch")
        self.epoch.call_on_fit_task_begin(**self.data)

"""How long prediction takes: CPU time of one thread, forms of the same network in turns."""

from __future__ import annotations

import time
from statistics import median

import numpy as np

from iunet.deploy.dense import Predict
from iunet.evaluation.latency import one_thread

BATCHES = (1, 256)
BUDGET_S = 3.0  # for one batch size; a large network is called less often
FEWEST = 5  # calls, whatever they take


def milliseconds(
    forms: dict[str, Predict], inputs: np.ndarray, repeats: int = 30
) -> dict[int, dict[str, float]]:
    """Median milliseconds of a call by batch size and form; `inputs` has rows for the largest.

    The thread's own CPU time is counted, and the forms take turns, so that other programs on the
    machine disturb little, and all forms alike.
    """
    with one_thread():
        return {batch: _in_turns(forms, inputs[:batch], repeats) for batch in BATCHES}


def _in_turns(forms: dict[str, Predict], inputs: np.ndarray, repeats: int) -> dict[str, float]:
    samples: dict[str, list[float]] = {form: [] for form in forms}
    for predict in forms.values():  # compiles, and fills the caches
        predict(inputs)
    start = time.thread_time()
    for done in range(repeats):
        if done >= FEWEST and time.thread_time() - start > BUDGET_S:
            break
        for form, predict in forms.items():
            before = time.thread_time()
            predict(inputs)
            samples[form].append(1000 * (time.thread_time() - before))
    return {form: median(values) for form, values in samples.items()}

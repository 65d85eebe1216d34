"""scikit-learn's checks of IUNetClassifier; `make checks` runs them with its default settings."""

from __future__ import annotations

import warnings
from typing import Any

from sklearn.utils.estimator_checks import check_estimator

from iunet import IUNetClassifier

EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": (
        "a row of weight 2 is not two rows: batches, BatchNorm's statistics and SCARF's donors see "
        "it once (a weight of 0 is the same as leaving the row out, which test_estimator.py checks)"
    )
}


# With the default settings, beside those.
EXPECTED_OF_DEFAULTS = EXPECTED | {
    "check_class_weight_classifiers": (
        "it asks that 87 % of rows are called a class that weighs 10⁷ times the other; its 50 rows "
        "are one batch, so the first network of the default ensemble has 15 steps behind it, and "
        "84 % are (with small settings and larger steps the check passes)"
    )
}


def check(estimator: IUNetClassifier, expected: dict[str, str]) -> list[dict[str, Any]]:
    """What each check came to."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return check_estimator(
            estimator, expected_failed_checks=expected, on_fail=None, on_skip=None
        )


if __name__ == "__main__":
    results = check(IUNetClassifier(random_state=0), EXPECTED_OF_DEFAULTS)
    for result in results:
        reason = EXPECTED_OF_DEFAULTS.get(result["check_name"], result["exception"] or "")
        print(f"{result['status']:8} {result['check_name']}  {reason}")
    raise SystemExit(any(result["status"] == "failed" for result in results))

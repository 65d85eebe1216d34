"""IUNetClassifier among scikit-learn's tools, and in programs that use torch themselves."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from estimator_checks import EXPECTED, check
from sklearn.base import clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer, StandardScaler
from small_classifier import LEARNS

from iunet import IUNetClassifier
from iunet.estimator.stages import denormals_are_zero
from iunet.machine.cpu import products

SMALL = LEARNS | {"supernet_epochs": 3, "first_cycle_epochs": 2}


@pytest.fixture(scope="module")
def cancer():
    return load_breast_cancer(return_X_y=True, as_frame=True)


def test_scikit_learns_checks_pass():
    results = check(IUNetClassifier(**(SMALL | {"cycles": 3})), EXPECTED)
    statuses = {result["check_name"]: result["status"] for result in results}
    assert {name for name, status in statuses.items() if status == "failed"} == set()
    assert {name for name, status in statuses.items() if status == "xfail"} == set(EXPECTED)
    assert len([status for status in statuses.values() if status == "passed"]) > 50


def test_pipelines_searches_and_scores(cancer):
    X, y = cancer
    scores = cross_val_score(IUNetClassifier(**SMALL), X, y, cv=2, scoring="roc_auc")
    assert scores.min() > 0.9
    scaled = make_column_transformer((QuantileTransformer(n_quantiles=50), make_column_selector()))
    piped = make_pipeline(scaled, StandardScaler(), IUNetClassifier(**SMALL)).fit(X, y)
    assert piped.score(X, y) > 0.9
    search = GridSearchCV(IUNetClassifier(**SMALL), {"ratio": [1, 4]}, cv=2).fit(X, y)
    assert search.best_params_["ratio"] in (1, 4)
    copy = clone(search.best_estimator_)
    assert copy.get_params() == search.best_estimator_.get_params()
    assert not hasattr(copy, "masks_")


def test_fits_in_threads_give_the_same(cancer):
    X, y = cancer

    def fitted(seed: int) -> np.ndarray:
        return IUNetClassifier(**(SMALL | {"random_state": seed})).fit(X, y).predict_proba(X)

    with ThreadPoolExecutor(2) as pool:
        together = list(pool.map(fitted, (0, 1)))
    for seed in (0, 1):
        assert np.array_equal(fitted(seed), together[seed])


def global_state() -> dict:
    return {
        "threads": torch.get_num_threads(),
        "random": torch.get_rng_state().tolist(),
        "numpy": str(np.random.get_state()),
        "denormals": denormals_are_zero(),
        "products": products(),
        "deterministic": torch.backends.cudnn.deterministic,
        "benchmark": torch.backends.cudnn.benchmark,
        "grad": torch.is_grad_enabled(),
        "dtype": torch.get_default_dtype(),
        "algorithms": torch.are_deterministic_algorithms_enabled(),
    }


@pytest.mark.parametrize("flush", [True, False])
def test_torchs_state_is_given_back(cancer, tmp_path, flush):
    X, y = cancer
    before_threads = torch.get_num_threads()
    torch.set_num_threads(2)
    torch.backends.cudnn.benchmark = True
    torch.set_flush_denormal(flush)
    try:
        before = global_state()
        assert before["denormals"] == flush
        model = IUNetClassifier(**SMALL).fit(X, y)
        assert global_state() == before
        model.predict_proba(X)
        model.consistency(X)
        model.save(tmp_path / "model")
        IUNetClassifier.load(tmp_path / "model")
        assert global_state() == before
        with pytest.raises(ValueError, match="no weight"):
            IUNetClassifier(**(SMALL | {"ratio": 1e9})).fit(X, y)
        assert global_state() == before
    finally:
        torch.set_num_threads(before_threads)
        torch.backends.cudnn.benchmark = False

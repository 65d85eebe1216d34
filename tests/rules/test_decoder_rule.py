"""Only supernets without a trained decoder ask for one."""

from __future__ import annotations

import pytest
from conftest import TEST_CONFIG, planned_jobs


@pytest.mark.parametrize(("supernet", "n"), [("kappa1-scl", 1), ("kappa1-sup", None)])
def test_who_asks_for_a_decoder(workdir, supernet, n):
    target = f"results/test/runs/photo_digits_low/mlp_vis/{supernet}/seed0/evaluation.json"
    jobs = planned_jobs(workdir.run("-n", target, *TEST_CONFIG))
    assert jobs["evaluate_supernet"] == 1 and jobs.get("decoder") == n

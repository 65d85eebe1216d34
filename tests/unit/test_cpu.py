"""Products of matrices on a CPU: the fastest library that does not round."""

from __future__ import annotations

import pytest
import torch

from iunet.machine import cpu
from iunet.training.support.environment import set_up_torch


@pytest.fixture(autouse=True)
def fresh_answer():
    before = cpu.products()
    cpu.fastest_products.cache_clear()
    yield
    cpu.fastest_products.cache_clear()
    cpu.set_products(before)


def test_products_of_a_job_are_in_float32():
    set_up_torch("cpu", 1, 1)
    assert max(cpu.error_of_products(*shape) for shape in cpu.SHAPES) < cpu.LARGEST_ERROR


def test_the_trial_tells_float32_from_bfloat16():
    x, weight = torch.randn(2, 128, 512)
    rounded = x.bfloat16().float() @ weight.bfloat16().float().T
    assert (rounded - x @ weight.T).abs().max() > 3 * cpu.LARGEST_ERROR


@pytest.mark.skipif(cpu.products() is None, reason="torch before 2.9 has no such setting")
@pytest.mark.parametrize(
    "vendor, error, chosen",
    [
        ("AuthenticAMD", 1e-4, cpu.ONEDNN),
        ("AuthenticAMD", 0.1, cpu.EXACT),
        ("GenuineIntel", 1e-4, cpu.EXACT),
    ],
)
def test_onednn_is_chosen_where_it_is_faster_and_as_exact(monkeypatch, vendor, error, chosen):
    monkeypatch.setattr(cpu, "cpu_facts", lambda: {"vendor_id": vendor})
    monkeypatch.setattr(cpu, "error_of_products", lambda *shape: error)
    set_up_torch("cpu", 1, 1)
    assert cpu.products() == chosen
    assert cpu.cpu_name().endswith("oneDNN") == (chosen == cpu.ONEDNN)

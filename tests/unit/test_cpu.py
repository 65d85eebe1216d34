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
    found = cpu.trial()
    torch.set_default_dtype(torch.float64)
    try:
        for product, again in zip(found, cpu.trial(), strict=True):
            assert torch.equal(product, again)  # whatever the default type is
    finally:
        torch.set_default_dtype(torch.float32)
    x, weight = torch.randn(2, 512, 512)
    exact = (x.double() @ weight.double().T).float()
    assert (x @ weight.T - exact).abs().max() < cpu.LARGEST_ERROR
    rounded = x.bfloat16().float() @ weight.bfloat16().float().T
    assert (rounded - exact).abs().max() > 3 * cpu.LARGEST_ERROR


@pytest.mark.skipif(cpu.products() is None, reason="torch before 2.9 has no such setting")
@pytest.mark.parametrize(
    "vendor, error, chosen",
    [
        ("AuthenticAMD", 1e-4, cpu.ONEDNN),
        ("AuthenticAMD", 0.1, cpu.EXACT),  # rounded to bfloat16
        ("AuthenticAMD", 0, cpu.EXACT),  # MKL both times
        ("GenuineIntel", 1e-4, cpu.EXACT),
    ],
)
def test_onednn_is_chosen_where_it_is_faster_and_as_exact(monkeypatch, vendor, error, chosen):
    def trial() -> list[torch.Tensor]:
        return [torch.ones(2) + error * (cpu.products() == cpu.ONEDNN)]

    monkeypatch.setattr(cpu, "cpu_facts", lambda: {"vendor_id": vendor})
    monkeypatch.setattr(cpu, "trial", trial)
    set_up_torch("cpu", 1, 1)
    assert cpu.products() == chosen
    assert cpu.cpu_name().endswith("oneDNN") == (chosen == cpu.ONEDNN)

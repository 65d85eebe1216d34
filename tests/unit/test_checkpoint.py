"""A checkpoint is refused by name if a single bit of it changes (test_training.py has the rest)."""

from __future__ import annotations

import logging

import pytest
import torch

from iunet.training.support.checkpoint import Checkpoint

CPU = torch.device("cpu")
FACTS = {"history": [{"epoch": 1, "loss": 0.5}], "seconds": 1.0, "resumed_at": []}


@pytest.fixture
def checkpoint(tmp_path) -> Checkpoint:
    checkpoint = Checkpoint(tmp_path / "supernet.checkpoint", {"id": "1"})
    tensors = {"network/w": torch.randn(3, 4), "optimiser/0/step": torch.tensor(7.0)}
    checkpoint.save(tensors, FACTS)
    return checkpoint


def test_a_checkpoint_comes_back(checkpoint):
    tensors, facts = checkpoint.load(CPU)
    assert facts == FACTS
    assert tensors["optimiser/0/step"].shape == ()  # as AdamW keeps it


def test_a_flipped_byte_is_refused_or_harmless(checkpoint, caplog):
    whole = checkpoint.path.read_bytes()
    tensors, _ = checkpoint.load(CPU)
    for place in range(0, len(whole), 3):
        damaged = bytearray(whole)
        damaged[place] ^= 0x10
        checkpoint.path.write_bytes(damaged)
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            loaded = checkpoint.load(CPU)
        if loaded is None:
            assert str(checkpoint.path) in caplog.text
        else:  # a byte of the header that says nothing, such as a blank
            assert all(torch.equal(loaded[0][name], tensors[name]) for name in tensors)

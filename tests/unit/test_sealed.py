"""Sealed files: every change of a byte and every truncation is refused, and nothing is executed."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest

from iunet.deploy.sealed import read_sealed, write_sealed
from iunet.errors import UserError

ARRAYS = {"a/weight": np.arange(6, dtype=np.float32).reshape(2, 3), "mask": np.array([1], np.uint8)}
METADATA = {"format": 1, "classes": ["ä", "b"]}


@pytest.fixture
def sealed(tmp_path):
    path = tmp_path / "model.safetensors"
    write_sealed(path, ARRAYS, METADATA)
    return path


def test_round_trip_and_equal_bytes(sealed, tmp_path):
    arrays, metadata = read_sealed(sealed, "a model")
    assert metadata == METADATA and set(arrays) == set(ARRAYS)
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(arrays[name], array)
        assert arrays[name].dtype == array.dtype
    write_sealed(tmp_path / "again", dict(reversed(ARRAYS.items())), METADATA)
    assert (tmp_path / "again").read_bytes() == sealed.read_bytes()


def test_a_transposed_array_comes_back_as_it_was(tmp_path):
    turned = ARRAYS["a/weight"].T
    write_sealed(tmp_path / "m", {"turned": turned}, METADATA)
    np.testing.assert_array_equal(read_sealed(tmp_path / "m", "a model")[0]["turned"], turned)


def refused(path) -> None:
    with pytest.raises(UserError, match=path.name) as refusal:
        read_sealed(path, "a model")
    assert "\n" not in str(refusal.value)


def test_every_flipped_byte_is_refused(sealed):
    content = sealed.read_bytes()
    for position in range(len(content)):
        for flip in (0x01, 0x80, 0xFF):
            changed = bytearray(content)
            changed[position] ^= flip
            sealed.write_bytes(changed)
            refused(sealed)


def test_every_truncation_is_refused(sealed):
    content = sealed.read_bytes()
    for length in range(len(content)):
        sealed.write_bytes(content[:length])
        refused(sealed)
    sealed.write_bytes(content + b"\0")
    refused(sealed)


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "model.safetensors"
    refused(path)
    for content in (
        pickle.dumps(METADATA),
        b"[1]",
        b"\2\0\0\0\0\0\0\0{}",
        b"\2" + 7 * b"\0" + b"[]",
    ):
        path.write_bytes(content)
        refused(path)


def test_reading_executes_nothing(sealed):
    """Python tells of every `exec`, `compile` and unpickling; reading causes none."""
    code = f"""
import sys
from iunet.deploy.sealed import read_sealed
import iunet.artifacts, safetensors.numpy
happened = []
sys.addaudithook(lambda event, _: happened.append(event))
read_sealed({str(sealed)!r}, "a model")
print(sorted({{"exec", "compile", "import", "pickle.find_class"}} & set(happened)))
"""
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert output.stdout == "[]\n", output.stdout + output.stderr

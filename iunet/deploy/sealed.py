"""Sealed files: safetensors that hold the checksum of every one of their own bytes.

A model that is shipped has no workflow around it that would notice damage. So one array of the
file, `sha256`, is the checksum of the whole file with these 32 bytes taken as zeros: header, names,
metadata and values. A file that is cut off, or differs in one byte, is refused. Reading parses JSON
and numbers and executes nothing.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from iunet.artifacts import atomic_path
from iunet.errors import UserError, one_line

SEAL = "sha256"
HEADER_SIZE = 8  # bytes of the number that a safetensors file begins with


def write_sealed(path: str | Path, arrays: dict[str, np.ndarray], metadata: dict[str, Any]) -> None:
    """Write named arrays, and metadata as JSON; the same content makes the same bytes."""
    from safetensors.numpy import save

    contiguous = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    text = json.dumps(metadata, sort_keys=True, allow_nan=False)
    unsealed = save({**contiguous, SEAL: np.zeros(32, np.uint8)}, metadata={"iunet": text})
    content = bytearray(unsealed)
    content[_place_of_seal(content)] = hashlib.sha256(content).digest()
    with atomic_path(path) as temporary:
        temporary.write_bytes(content)


def read_sealed(path: str | Path, what: str) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays and the metadata of a sealed file; `what` says what it should be, for errors."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        content = bytearray(Path(path).read_bytes())
    except OSError as error:
        raise UserError(f"{path} cannot be read ({one_line(error)}): name {what}.") from error
    try:
        place = _place_of_seal(content)
        said = bytes(content[place])
        content[place] = bytes(32)
        whole = said == hashlib.sha256(content).digest()
        header = _header(content)[0] if whole else {}
        arrays = load(bytes(content)) if whole else {}
        metadata = json.loads(header.get("__metadata__", {}).get("iunet", "null"))
    except (
        SafetensorError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        RecursionError,
    ) as error:
        raise UserError(
            f"{path} is damaged, or is not {what}: it cannot be read as safetensors with a seal "
            f"({one_line(error)}). Get it again from where it was made."
        ) from error
    if not whole:
        raise UserError(
            f"{path} is damaged: its bytes do not fit its checksum. Get it again from where it "
            "was made."
        )
    if not isinstance(metadata, dict):
        raise UserError(f"{path} is not {what}: it does not say what it holds.")
    del arrays[SEAL]
    return arrays, metadata


def _header(content: bytearray) -> tuple[dict[str, Any], int]:
    """What a safetensors file says of its arrays, and where their bytes begin."""
    start = HEADER_SIZE + int.from_bytes(content[:HEADER_SIZE], "little")
    return json.loads(content[HEADER_SIZE:start]), start


def _place_of_seal(content: bytearray) -> slice:
    header, start = _header(content)
    begin, end = header[SEAL]["data_offsets"]
    if end - begin != 32 or not 0 <= start + begin <= len(content) - 32:
        raise ValueError("the checksum is not where it should be")
    return slice(start + begin, start + end)

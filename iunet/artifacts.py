"""Writing and reading artifacts: atomic, self-describing, and never with pickle.

An artifact is written under a temporary name in its own folder and renamed when complete, so a
reader sees the old file, the whole new file, or none. Arrays are safetensors, tables Parquet, and
everything else JSON.

JSON and safetensors hold checksums of their own content, which every reader compares, and their
provenance (iunet/provenance.py). The checksums of other files (Parquet, CSV, pictures) are in a
JSON of the same folder.
"""

from __future__ import annotations

import contextlib
import errno
import glob
import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iunet.errors import UserError, one_line
from iunet.provenance import Code, Identity, joined_code, refuse_foreign

if TYPE_CHECKING:
    import numpy as np
    import torch

AnyPath = str | os.PathLike
NO_SPACE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
PROVENANCE, SEAL = "made_by", "seal"
SIGNED = (".json", ".safetensors")  # files that carry provenance
AGAIN = "The workflow wrote this file: delete it and run the same command again to rebuild it."


@contextlib.contextmanager
def atomic_path(path: AnyPath) -> Iterator[Path]:
    """A temporary path to write to; it becomes `path` if the block succeeds, and goes if not."""
    path = Path(path)
    if path.is_dir():
        raise UserError(f"{path} is a directory, but a file must be written there. Remove it.")
    # In a new folder: libraries write other files next to theirs, and two processes may write one
    # model.
    folder = path.with_name(f"{_temporary(path)}{secrets.token_hex(4)}.tmp")
    folder.mkdir(parents=True)
    temporary = folder / path.name
    try:
        yield temporary
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        temporary.chmod(0o666 & folder.stat().st_mode)  # safetensors makes its files private
        temporary.replace(path)
    except Exception as error:
        explain_full_disk(error, path)
        raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _temporary(path: Path) -> str:
    return f".{path.name[:50]}.iunet-"  # a name has 255 bytes at most


def remove_leftovers(path: AnyPath) -> None:
    """Remove what killed writers of an artifact left behind, if nobody else is writing it."""
    for folder in Path(path).parent.glob(f"{glob.escape(_temporary(Path(path)))}*.tmp"):
        shutil.rmtree(folder, ignore_errors=True)


def is_full_disk(error: BaseException) -> bool:
    # pyarrow and Python set errno; safetensors (Rust) only says it in its text.
    in_text = any(f"os error {number})" in str(error) for number in NO_SPACE)
    return in_text or getattr(error, "errno", None) in NO_SPACE


def explain_full_disk(error: BaseException, path: AnyPath) -> None:
    """Raise a `UserError` that names `path` if the error means that the disk is full."""
    if not is_full_disk(error):
        return
    free = shutil.disk_usage(Path(path).parent).free / 2**20
    raise UserError(
        f"No space left to write {path} ({free:.0f} MiB free on its disk; a quota may be reached). "
        "No partial file was kept. Free some space, or set `results` in the config to a folder on "
        "a larger disk, and run the same command again."
    ) from error


# ---- provenance


_provenance: dict[str, Any] = {}


def sign(provenance: dict[str, Any]) -> None:
    """Give this provenance to everything that this process writes from now on."""
    global _provenance
    _provenance = provenance


def signed_code() -> Code:
    """The versions of the code of this job and of all before it."""
    return _provenance.get("code", {})


def check_inputs(expected: dict[str, Identity]) -> Code:
    """Refuse files that belong to other runs; the versions of the code that made them.

    `expected` are the identities by path. A file without provenance is compared with its checksum
    in a JSON of the same job, if that is among these files.
    """
    code: list[Code] = []
    for path, wanted in expected.items():
        if Path(path).suffix not in SIGNED:
            continue
        found = read_provenance(path)
        refuse_foreign(path, wanted, found)
        code.append(_dictionary(found, "code"))
        for name, checksum in _dictionary(found, "files").items():
            described = Path(path).parent / Path(name).name
            if str(described) in expected:
                _check_described(described, checksum, path)
    return joined_code(*code)


def _check_described(path: AnyPath, checksum: Any, described_by: AnyPath) -> None:
    if sha256(path) != checksum:
        raise UserError(
            f"{path} is not the file that {described_by} describes: the sha256 differs. Delete "
            "both and run the same command again."
        )


def _dictionary(provenance: Any, key: str) -> dict[str, Any]:
    value = provenance.get(key) if isinstance(provenance, dict) else None
    return value if isinstance(value, dict) else {}


def read_provenance(path: AnyPath) -> Any:
    """The provenance that a JSON or safetensors file carries; None if it has none."""
    if Path(path).suffix == ".json":
        content = _load_json(path)
    else:
        with _opened(path) as (_, content):
            pass
    record = content.get(PROVENANCE) if isinstance(content, dict) else None
    if isinstance(record, dict) and SEAL in record and record != _sealed(record):
        raise UserError(f"{path} is damaged: its record of how it was made has changed. {AGAIN}")
    return record


def _sealed(record: dict[str, Any]) -> dict[str, Any]:
    """The record with a checksum of itself. Artifacts of older versions have none."""
    plain = {key: value for key, value in record.items() if key != SEAL}
    return {**plain, SEAL: _json_digest(plain)}


def _signed(path: AnyPath, content: dict[str, Any], **checksums: Any) -> dict[str, Any]:
    """The content of an artifact, with its provenance and checksums."""
    record = {"file": Path(path).name, "content": _json_digest(content), **checksums, **_provenance}
    return {**content, PROVENANCE: _sealed(record)}


def _unsigned(path: AnyPath, content: dict[str, Any]) -> tuple[dict[str, Any], Any]:
    """The content that `_signed` was given, and its provenance; refused if it has changed."""
    record = content.pop(PROVENANCE, None)
    try:
        fits = not isinstance(record, dict) or record.get("content") == _json_digest(content)
    except RecursionError:  # nested more deeply than any artifact
        fits = False
    if not fits:
        raise UserError(f"{path} is damaged: its content does not match its checksum. {AGAIN}")
    return content, record


def _json_digest(content: dict[str, Any]) -> str:
    text = json.dumps(content, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _refuse_missing(path: AnyPath) -> None:
    if not Path(path).exists():
        raise UserError(f"{path} does not exist. Run the stage that makes it first.")


# ---- JSON


def write_json(path: AnyPath, content: dict[str, Any], files: Iterable[AnyPath] = ()) -> None:
    """Write `content` as readable JSON; NaN and infinities are refused, they are not JSON.

    `files` are files of the same job and folder that cannot hold a checksum themselves.
    """
    checksums = {Path(file).name: sha256(file) for file in files}
    signed = _signed(path, content, **({"files": checksums} if checksums else {}))
    write_text(path, json.dumps(signed, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def read_json(path: AnyPath) -> dict[str, Any]:
    """The content of a JSON artifact, without its provenance."""
    content = _load_json(path)
    if not isinstance(content, dict):
        raise UserError(f"{path} must hold a JSON object, not {one_line(repr(content))}. {AGAIN}")
    return _unsigned(path, content)[0]


def _load_json(path: AnyPath) -> Any:
    _refuse_missing(path)
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"{path} cannot be read as JSON ({one_line(error)}). {AGAIN}") from error


def write_text(path: AnyPath, text: str) -> None:
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


# ---- arrays


def write_arrays(path: AnyPath, arrays: dict[str, np.ndarray], **metadata: Any) -> None:
    """Write named arrays as safetensors, with the metadata as JSON in the header."""
    import numpy as np
    from safetensors.numpy import save_file

    # safetensors writes the memory in its order: a transposed view would come back scrambled.
    contiguous = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    checksums = {name: _array_digest(array) for name, array in contiguous.items()}
    header = json.dumps(_signed(path, metadata, sha256=checksums), sort_keys=True)
    with atomic_path(path) as temporary:
        # One entry only: safetensors writes several in random order, and files would differ.
        save_file(contiguous, temporary, metadata={"iunet": header})


def read_arrays(path: AnyPath, *names: str) -> dict[str, np.ndarray]:
    """Read the named arrays (all, if none is named) of a safetensors file."""
    return read_arrays_and_metadata(path, *names)[0]


def read_arrays_and_metadata(
    path: AnyPath, *names: str
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays, after their checksums are compared, and the metadata of `write_arrays`."""
    with _opened(path) as (file, header):
        arrays = {name: file.get_tensor(name) for name in names or file.keys()}
    metadata, record = _unsigned(path, header)
    if record is None:  # not an artifact of the workflow
        return arrays, metadata
    checksums = _dictionary(record, "sha256")
    for name, array in arrays.items():
        if checksums.get(name) != _array_digest(array):
            raise UserError(f"{path} is damaged: '{name}' does not match its checksum. {AGAIN}")
    if not names and set(arrays) != set(checksums):
        raise UserError(f"{path} is damaged: arrays are missing or unexpected. {AGAIN}")
    return arrays, metadata


def _array_digest(array: np.ndarray) -> str:
    digest = hashlib.sha256(f"{array.dtype} {array.shape}".encode())
    digest.update(array.reshape(-1).view("u1"))
    return digest.hexdigest()


@contextlib.contextmanager
def _opened(path: AnyPath) -> Iterator[tuple[Any, dict[str, Any]]]:
    """A safetensors file and its header."""
    from safetensors import SafetensorError, safe_open

    _refuse_missing(path)
    try:
        with safe_open(path, framework="numpy") as file:
            header = json.loads((file.metadata() or {}).get("iunet", "{}"))
            yield file, header if isinstance(header, dict) else {}
    except (OSError, SafetensorError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise UserError(
            f"{path} cannot be read as safetensors ({one_line(error)}). {AGAIN}"
        ) from error


def write_tensors(path: AnyPath, tensors: dict[str, torch.Tensor], **metadata: Any) -> None:
    """`write_arrays` of tensors on any device."""
    write_arrays(path, {name: t.detach().cpu().numpy() for name, t in tensors.items()}, **metadata)


def read_tensors(path: AnyPath, device: torch.device | str = "cpu") -> dict[str, torch.Tensor]:
    """`read_arrays` as tensors on a device."""
    import torch

    arrays = read_arrays(path)
    return {name: torch.from_numpy(array).to(device) for name, array in arrays.items()}


def give_identity(path: AnyPath, identity: Identity) -> None:
    """Give an artifact the identity of this job; content, checksums and versions stay."""
    record, of_this_process = read_provenance(path), _provenance
    sign({**identity, **{key: record[key] for key in ("files", "code") if key in record}})
    try:
        if Path(path).suffix == ".json":
            write_json(path, read_json(path))
        else:
            arrays, metadata = read_arrays_and_metadata(path)
            write_arrays(path, arrays, **metadata)
    finally:
        sign(of_this_process)


# ---- other files


def read_description(json_path: AnyPath, data_path: AnyPath) -> dict[str, Any]:
    """The JSON of a downloaded data set, after the data file's checksum is compared with it."""
    description = read_json(json_path)
    for key in ("dataset", "kind", "sha256"):
        if key not in description:
            raise UserError(f"{json_path} does not describe a data set: no '{key}'. {AGAIN}")
    _check_described(data_path, description["sha256"], json_path)
    return description


def sha256(path: AnyPath) -> str:
    try:
        with Path(path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise UserError(f"{path} cannot be read ({one_line(error)}).") from error

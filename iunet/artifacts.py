"""Writing and reading artifacts: atomic, self-describing, and never with pickle.

An artifact is written under a temporary name in its own folder and renamed when complete, so a
reader sees the old file, the whole new file, or none. Arrays are safetensors, tables Parquet, and
everything else JSON.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iunet.errors import UserError, one_line

if TYPE_CHECKING:
    import numpy as np

NO_SPACE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@contextlib.contextmanager
def atomic_path(path: str | os.PathLike) -> Iterator[Path]:
    """A temporary path to write to; it becomes `path` if the block succeeds, and goes if not."""
    path = Path(path)
    # In a folder of its own, with a fixed name: a writer that is killed leaves files behind, some
    # with names of its library's choice, and the next attempt at the same artifact removes them.
    folder = path.with_name(f".{path.name}.tmp")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    temporary = folder / path.name
    try:
        yield temporary
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        temporary.chmod(0o666 & ~_umask())  # safetensors makes its files private
        temporary.replace(path)
    except Exception as error:
        explain_full_disk(error, path)
        raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def is_full_disk(error: BaseException) -> bool:
    # pyarrow and Python set errno; safetensors (Rust) only says it in its text.
    in_text = any(f"os error {number})" in str(error) for number in NO_SPACE)
    return in_text or getattr(error, "errno", None) in NO_SPACE


def explain_full_disk(error: BaseException, path: str | os.PathLike) -> None:
    """Raise a `UserError` that names `path` if the error means that the disk is full."""
    if not is_full_disk(error):
        return
    free = shutil.disk_usage(Path(path).parent).free / 2**20
    raise UserError(
        f"No space left to write {path} ({free:.0f} MiB free on its disk, or a quota is reached). "
        "Nothing was kept of it. Make room, or set `results` in the config to a folder on a larger "
        "disk, and run the same command again."
    ) from error


def write_json(path: str | os.PathLike, content: dict[str, Any]) -> None:
    """Write `content` as readable JSON; NaN and infinities are refused, they are not JSON."""
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
    write_text(path, text + "\n")


def write_text(path: str | os.PathLike, text: str) -> None:
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def read_json(path: str | os.PathLike) -> dict[str, Any]:
    path = Path(path)
    if not path.exists():
        raise UserError(
            f"{path} does not exist: run the stage of the workflow that makes it first."
        )
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(
            f"{path} cannot be read as JSON ({one_line(error)}). It is an artifact of the "
            "workflow: delete it and run the same command again to make it anew."
        ) from error


def write_arrays(path: str | os.PathLike, arrays: dict[str, np.ndarray], **metadata: str) -> None:
    """Write named arrays as safetensors, with the metadata as JSON in the header."""
    import numpy as np
    from safetensors.numpy import save_file

    # safetensors writes the memory as it lies: a transposed view would come back scrambled.
    contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    with atomic_path(path) as temporary:
        # One entry only: safetensors writes several in random order, and files would differ.
        header = {"iunet": json.dumps(metadata, sort_keys=True)}
        save_file(contiguous, temporary, metadata=header)


def read_arrays(path: str | os.PathLike, *names: str) -> dict[str, np.ndarray]:
    """Read the named arrays (all, if none is named) of a safetensors file."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            return {name: file.get_tensor(name) for name in names or file.keys()}
    except (OSError, SafetensorError) as error:
        raise UserError(
            f"{path} cannot be read as safetensors ({one_line(error)}). It is an artifact of the "
            "workflow: delete it and run the same command again to make it anew."
        ) from error


def read_description(json_path: str | Path, data_path: str | Path) -> dict[str, Any]:
    """The JSON of a downloaded data set, once the data file is found to be the one it describes."""
    description = read_json(json_path)
    if sha256(data_path) != description["sha256"]:
        raise UserError(
            f"Data set '{description['dataset']}': {data_path} is not the file that {json_path} "
            "describes (its sha256 differs). Delete both and run the same command again."
        )
    return description


def sha256(path: str | os.PathLike) -> str:
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

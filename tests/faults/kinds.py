"""The faults, each a context manager around one start of the workflow.

It yields what is done (`Trouble`), or None where there is nothing to do it to yet, and undoes on
leaving what a person would undo: makes room, lets write again, removes Snakemake's lock.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

from flow import RESULTS, Flow, Start, Trouble

Fault = Callable[[Flow, Flow, Random], contextlib.AbstractContextManager[Trouble | None]]
ARTIFACTS = (".json", ".safetensors", ".parquet", ".checkpoint", ".journal")
MIB = 2**20

# ---- processes


def _killing(what: str, kill: Callable[[Start, Trouble, Random], None], unlock: bool) -> Fault:
    @contextlib.contextmanager
    def fault(flow: Flow, _: Flow, rng: Random) -> Iterator[Trouble]:
        trouble = Trouble(what)
        trouble.strike = lambda start: kill(start, trouble, rng)
        yield trouble
        if unlock and trouble.struck:
            flow.unlock()

    return fault


def _signal_a_job(number: int) -> Callable[[Start, Trouble, Random], None]:
    def strike(start: Start, trouble: Trouble, rng: Random) -> None:
        if jobs := sorted(start.flow.jobs().items()):
            lock, pid = rng.choice(jobs)
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
                trouble.what += f" {lock.name}"
                trouble.struck = True

    return strike


def _kill_snakemake(start: Start, trouble: Trouble, _: Random) -> None:
    """Its jobs live on, and the next start meets them."""
    start.process.kill()
    trouble.struck = True


def _kill_group(start: Start, trouble: Trouble, _: Random) -> None:
    os.killpg(start.process.pid, signal.SIGKILL)
    trouble.struck = True


# ---- artifacts


def _victim(flow: Flow, rng: Random) -> Path | None:
    """A file that a job of the next start will read.

    A split does not look at its data again once it is made, as long as their JSON is the same.
    """
    split = (flow.path / RESULTS / "splits" / "wine" / "split.json").exists()
    found = [p for p in flow.existing(*ARTIFACTS) if not (split and p.suffix == ".parquet")]
    return rng.choice(found) if found else None


def _said(flow: Flow, *paths: Path) -> list[str]:
    return [str(path.relative_to(flow.path)) for path in paths]


def _damaging(what: str, damage: Callable[[Path, Random], None]) -> Fault:
    @contextlib.contextmanager
    def fault(flow: Flow, _: Flow, rng: Random) -> Iterator[Trouble | None]:
        path = _victim(flow, rng)
        if path is None:
            yield None
            return
        damage(path, rng)
        names = _said(flow, path)
        yield Trouble(f"{what} {names[0]}", names)

    return fault


def _truncate(path: Path, rng: Random) -> None:
    os.truncate(path, rng.randrange(path.stat().st_size))


def _flip(path: Path, rng: Random) -> None:
    content = bytearray(path.read_bytes())
    content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    path.write_bytes(content)


def _delete(path: Path, _: Random) -> None:
    path.unlink()


@contextlib.contextmanager
def swapped(flow: Flow, _: Flow, rng: Random) -> Iterator[Trouble | None]:
    """Two files of one kind, each under the other's name."""
    one = _victim(flow, rng)
    others = [p for p in flow.existing(one.suffix) if p != one] if one else []
    if not others:
        yield None
        return
    other = rng.choice(others)
    contents = one.read_bytes(), other.read_bytes()
    other.write_bytes(contents[0])
    one.write_bytes(contents[1])
    names = _said(flow, one, other)
    yield Trouble(f"swapped {' and '.join(names)}", names)


@contextlib.contextmanager
def foreign(flow: Flow, other: Flow, rng: Random) -> Iterator[Trouble | None]:
    """The file of that path from a run with another split."""
    path = _victim(flow, rng)
    source = path and other.path / path.relative_to(flow.path)
    if not source or not source.exists():
        yield None
        return
    shutil.copyfile(source, path)
    names = _said(flow, path)
    yield Trouble(f"foreign {names[0]}", names)


# ---- the machine


@contextlib.contextmanager
def full_disk(flow: Flow, _: Flow, rng: Random) -> Iterator[Trouble]:
    """The results lie on a small tmpfs, of which at most a few pages are left."""
    ballast = flow.path / "results" / "ballast"
    free = shutil.disk_usage(flow.path / "results").free
    left = rng.choice([0, 4096, 16384, 65536])
    with ballast.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, max(free - left, 1))
    yield Trouble(f"full disk, {left} bytes left", [f"{RESULTS}/"])
    ballast.unlink()


@contextlib.contextmanager
def read_only(flow: Flow, _: Flow, rng: Random) -> Iterator[Trouble | None]:
    """A folder of the results, by a bind mount: root ignores modes."""
    places = ["", "runs/wine/mlp_tab", "runs/wine/xgb", "splits/wine", "tables", "logs"]
    folder = flow.path / RESULTS / rng.choice(places)
    if not folder.is_dir():
        yield None
        return
    subprocess.run(["mount", "--bind", folder, folder], check=True)
    subprocess.run(["mount", "-o", "remount,bind,ro", folder], check=True)
    names = _said(flow, folder)
    yield Trouble(f"read-only {names[0]}", names)
    for _ in range(100):  # a job that lives on may be in it
        if subprocess.run(["umount", folder], capture_output=True).returncode == 0:
            return
        time.sleep(0.1)
    raise RuntimeError(f"{folder} is busy")


@contextlib.contextmanager
def moved_clock(flow: Flow, _: Flow, rng: Random) -> Iterator[Trouble]:
    """By libfaketime: what this start sees, and the times that its files get.

    Snakemake itself names files that are older than what they are made from. Files of a future
    that turned out to be none are touched.
    """
    hours = rng.choice([-24 * 400, -2, 2, 24 * 400])
    command = ["faketime", "-m", "--exclude-monotonic", "-f", f"{hours:+}h"]
    began = time.time()
    paths = [str(Path(__file__).parent / "clock"), *filter(None, [os.environ.get("PYTHONPATH")])]
    prefix = ["env", "NO_FAKE_STAT=1", f"PYTHONPATH={os.pathsep.join(paths)}", *command]
    yield Trouble(f"clock moved by {hours} h", [f"{RESULTS}/"], prefix)
    for path in (flow.path / RESULTS).rglob("*"):
        with contextlib.suppress(FileNotFoundError):  # a job that lives on has removed it
            found = path.stat().st_mtime
            if found > time.time():
                os.utime(path)
            elif path.is_file() and found >= began and hours < 0:
                os.utime(path, (found + 3600 * hours,) * 2)


FAULTS: dict[str, Fault] = {
    "SIGKILL of a job": _killing("SIGKILL of", _signal_a_job(signal.SIGKILL), unlock=False),
    "SIGTERM of a job": _killing("SIGTERM of", _signal_a_job(signal.SIGTERM), unlock=False),
    "SIGKILL of Snakemake": _killing("SIGKILL of Snakemake", _kill_snakemake, unlock=True),
    "SIGKILL of the process group": _killing("SIGKILL of all", _kill_group, unlock=True),
    "full disk": full_disk,
    "truncated artifact": _damaging("truncated", _truncate),
    "flipped bit": _damaging("flipped a bit of", _flip),
    "swapped artifacts": swapped,
    "foreign artifact": foreign,
    "deleted artifact": _damaging("deleted", _delete),
    "moved clock": moved_clock,
    "read-only folder": read_only,
}


def possible() -> tuple[dict[str, Fault], list[str]]:
    """The faults that this machine can have, and why not the others."""
    if shutil.which("faketime"):
        return FAULTS, []
    without = {name: fault for name, fault in FAULTS.items() if name != "moved clock"}
    return without, ["no moved clock: faketime is not installed (apt-get install faketime)"]

"""Jobs of the fork server end as ordinary ones do, and with whatever they depend on."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from iunet.machine import fork_server

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the fork server needs Linux")

ENVIRONMENT = os.environ | dict.fromkeys(fork_server.THREADS, "1")
ROOT = Path(__file__).resolve().parents[2]
IS_FORKED = '"json.tool" in sys.modules'  # which the server has imported, and no script


def wait_for(condition) -> None:
    """However long it takes: what is waited for is sure to come, or the test hangs for 60 s."""
    for _ in range(6000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("it never happened")


class Server:
    def __init__(self, tmp_path: Path):
        self.folder = tmp_path
        self.process, self.command = fork_server.start(1, ("json.tool",))
        self.socket = Path(shlex.split(self.command)[-1])
        wait_for(self.socket.exists)

    def start(self, code: str, **changes) -> subprocess.Popen:
        """A script that begins with its process id in a file, so that tests can wait for it."""
        script = self.folder / "script.py"
        note = self.folder / "pid"
        script.write_text(
            "import os, pathlib, sys, time\n"
            f"new = pathlib.Path({str(note) + '.new'!r})\n"
            f"new.write_text(f'{{os.getpid()}} {{{IS_FORKED}}}')\n"
            f"new.rename({str(note)!r})\n{code}\n"
        )
        return subprocess.Popen(
            [*shlex.split(self.command), script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=ENVIRONMENT | changes,
            cwd=self.folder,
        )

    def job(self) -> tuple[int, bool]:
        """Process and kind of the job that was started, when it runs."""
        note = self.folder / "pid"
        wait_for(note.exists)
        pid, forked = note.read_text().split()
        note.unlink()
        return int(pid), forked == "True"


@pytest.fixture
def server(tmp_path):
    server = Server(tmp_path)
    yield server
    server.process.stdin.close()
    server.process.wait(timeout=60)


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


FOREVER = "while True: time.sleep(0.1)"


@pytest.mark.parametrize(
    ("code", "ends_with"),
    [
        ("", 0),
        ("sys.exit(7)", 7),
        ("sys.exit(-1)", 255),
        ("sys.exit(-100)", 156),
        ("sys.exit('a word')", 1),
        ("raise ValueError('x')", 1),
        ("os._exit(5)", 5),
        ("raise KeyboardInterrupt", -signal.SIGINT),
        ("os.kill(os.getpid(), 9)", -signal.SIGKILL),
        ("os.abort()", -signal.SIGABRT),
    ],
)
def test_exit_codes_are_those_of_an_ordinary_start(server, code, ends_with):
    client = server.start(code)
    _, errors = client.communicate(timeout=60)
    assert client.returncode == ends_with
    assert server.job()[1]
    ordinary = subprocess.run(
        [sys.executable, server.folder / "script.py"], capture_output=True, text=True
    )
    assert ordinary.returncode == ends_with
    last = [text.strip().splitlines()[-1:] for text in (errors, ordinary.stderr)]
    assert last[0] == last[1]


@pytest.mark.parametrize("folder", ["with a space", "long" * 30])
def test_the_folder_of_temporary_files_may_have_any_name(tmp_path, monkeypatch, folder):
    (tmp_path / folder).mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / folder))
    server = Server(tmp_path)
    try:
        (tmp_path / "script.py").write_text(f"import sys; sys.exit(7 if {IS_FORKED} else 8)")
        # By a shell, as Snakemake does it.
        ended = subprocess.run(
            f"{server.command} script.py", shell=True, cwd=tmp_path, env=ENVIRONMENT
        )
        assert ended.returncode == 7
    finally:
        server.process.stdin.close()
        server.process.wait(timeout=60)
    assert not server.socket.parent.exists() and not any((tmp_path / folder).iterdir())


def test_a_killed_server_leaves_nothing_behind(tmp_path):
    code = (
        "from iunet.machine import fork_server; import shlex\n"
        "server, command = fork_server.start(1, ())\n"
        "server.kill(); server.wait(); print(shlex.split(command)[-1])"
    )
    said = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=os.environ | {"TMPDIR": str(tmp_path), "PYTHONPATH": str(ROOT)},
    )
    assert said.stdout.startswith(str(tmp_path)) and not any(tmp_path.iterdir()), said.stderr


def test_environment_folder_output_and_exit_handlers_are_the_clients(server):
    code = (
        "import atexit; atexit.register(print, 'at exit'); "
        "print(os.getcwd(), os.environ['MINE'], sys.argv, __name__, __file__)"
    )
    client = server.start(code, MINE="here")
    script = str(server.folder / "script.py")
    said = f"{server.folder} here [{script!r}] __main__ {script}\nat exit\n"
    assert client.communicate(timeout=60)[0] == said


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR1])
def test_signals_go_through(server, number):
    handled = f"import signal; signal.signal({number.value}, lambda *_: sys.exit(42)); "
    client = server.start(f"{handled}print('ready', flush=True)\n{FOREVER}")
    assert client.stdout.readline() == "ready\n"
    client.send_signal(number)
    assert client.wait(timeout=60) == 42


def test_a_signal_that_is_not_handled_ends_both(server):
    client = server.start(FOREVER)
    pid, forked = server.job()
    assert forked
    client.terminate()
    assert client.wait(timeout=60) == -signal.SIGTERM
    assert not is_running(pid)


def test_a_killed_client_ends_its_job(server):
    client = server.start(FOREVER)
    pid, forked = server.job()
    assert forked and is_running(pid)
    client.kill()
    client.wait(timeout=60)
    wait_for(lambda: not is_running(pid))


def test_a_dead_server_means_an_ordinary_start(server):
    server.process.kill()
    server.process.wait(timeout=60)
    client = server.start("sys.exit(7)")
    assert client.wait(timeout=60) == 7
    assert server.job() == (client.pid, False)


def test_a_server_that_dies_takes_its_jobs_along_and_they_start_again(server):
    client = server.start(f"if {IS_FORKED}:\n    {FOREVER}\nsys.exit(7)")
    first, forked = server.job()
    assert forked
    server.process.kill()
    assert client.wait(timeout=60) == 7
    wait_for(lambda: not is_running(first))
    assert server.job() == (client.pid, False)


def test_a_lost_socket_means_an_ordinary_start_and_no_harm_to_jobs(server):
    client = server.start("sys.exit(7) if sys.stdin.readline() else None", MINE="first")
    first, forked = server.job()
    assert forked and is_running(first)
    server.socket.unlink()  # as a program that clears /tmp does
    second = server.start("sys.exit(8)")
    assert second.wait(timeout=60) == 8
    assert server.job() == (second.pid, False)
    server.process.stdin.close()
    client.stdin.write("go on\n")
    client.stdin.close()
    assert client.wait(timeout=60) == 7
    assert server.process.wait(timeout=60) == 0


def test_other_threads_than_the_servers_mean_an_ordinary_start(server):
    client = server.start("sys.exit(7)", OMP_NUM_THREADS="2")
    assert client.wait(timeout=60) == 7
    assert server.job() == (client.pid, False)


def test_it_ends_with_snakemake_after_its_last_job(server):
    client = server.start("sys.stdin.readline(); sys.exit(7)")
    pid, forked = server.job()
    assert forked
    server.process.stdin.close()  # as when Snakemake ends, in whatever way
    wait_for(lambda: not server.socket.exists())
    assert is_running(pid)  # it waits for its line
    client.stdin.close()
    assert client.wait(timeout=60) == 7
    assert server.process.wait(timeout=60) == 0
    assert not server.socket.parent.exists()


def test_jobs_are_in_no_group_of_their_clients(server):
    """Else a signal to Snakemake's group would reach a job twice: itself, and by its client."""
    client = server.start("sys.exit(7) if sys.stdin.readline() else None")
    job, forked = server.job()
    assert forked and os.getpgid(job) != os.getpgid(client.pid) == os.getpgrp()
    client.stdin.write("go on\n")
    client.stdin.close()
    assert client.wait(timeout=60) == 7

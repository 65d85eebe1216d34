"""Jobs that start at once: a process that has imported torch, and forks for every job.

Importing torch takes longer than a small job's work. With IUNET_FORK_SERVER=1, Snakemake starts
this file once as a server, and once per job as a client in the place of Python:

    fork_server.py serve <socket> <module> ...     imports the modules, then forks when asked
    fork_server.py run <socket> <script>           asks for a job, and waits for its end

The job has the client's environment, folder and terminal. Signals to the client go to the job, its
exit code or deadly signal is the client's, and a client that is killed takes the job with it. Where
no server answers, or it dies, the client becomes Python itself and runs the script as always. The
server ends when Snakemake does, after its last job. Snakemake's benchmark files hold right times,
but no memory, since a job is not the client's child.

Standard library only, and nothing of `iunet`: a client starts in some hundredths of a second, and
jobs import the science as it is on disk.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import json
import os
import runpy
import selectors
import shlex
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

ASKED = "IUNET_FORK_SERVER"
MODULES = ("torch", "numpy", "pyarrow.parquet", "pandas", "matplotlib.figure")
# Read when a library is loaded, so a server serves only jobs that have its own values.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
FORWARDED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
PR_SET_PDEATHSIG = 1
LONGEST_PATH = 107  # bytes of a socket's path
ASKING_S = 5.0  # a client that takes longer to say what it wants holds up all others


def asked() -> bool:
    """It needs Linux: jobs must die with the server, or a job could run twice."""
    return os.environ.get(ASKED) == "1" and sys.platform == "linux"


def start(threads: int, modules: tuple[str, ...] = MODULES) -> tuple[subprocess.Popen, str]:
    """A server that ends with this process, and the command that takes the place of Python."""
    path = _socket_path()
    command = [sys.executable, "-P", __file__]
    environment = os.environ | dict.fromkeys(THREADS, str(threads))
    # Its stdin is a pipe that nobody writes to: it closes when this process ends, however it ends.
    # A group of its own: signals to Snakemake's group reach jobs through their clients, once.
    server = subprocess.Popen(
        [*command, "serve", path, *modules],
        stdin=subprocess.PIPE,
        env=environment,
        process_group=0,
    )
    return server, shlex.join([sys.executable, "-I", "-S", __file__, "run", path])


def _socket_path() -> str:
    """In a folder of its own, which is removed at the end even if the server was killed."""
    folder = Path(tempfile.mkdtemp(prefix="iunet-fork-"))
    if len(os.fsencode(folder / "socket")) > LONGEST_PATH:
        folder.rmdir()
        folder = Path(tempfile.mkdtemp(prefix="iunet-fork-", dir="/tmp"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return str(folder / "socket")


# ---------------------------------------------------------------- the server


def serve(path: str, modules: list[str]) -> str:
    """Fork for each client. Returns in the job, with its script; the server itself never does."""
    for number in FORWARDED:  # those reach the jobs, with which the server would die too early
        signal.signal(number, signal.SIG_IGN)
    for module in modules:
        __import__(module)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)  # only now: a job that comes before does not wait for the imports
    listener.listen(64)
    loop = selectors.DefaultSelector()
    loop.register(listener, selectors.EVENT_READ, "client")
    loop.register(sys.stdin, selectors.EVENT_READ, "end")
    while len(loop.get_map()):
        for key, _ in loop.select():
            if loop.get_map().get(key.fd) is not key:
                continue  # closed by the event before this one
            if key.data == "client":
                script = _accept(listener, loop)
                if script is not None:
                    return script
            elif key.data == "end":  # no more jobs; those that run are waited for
                loop.unregister(sys.stdin)
                loop.unregister(listener)
                listener.close()
                with contextlib.suppress(OSError):  # if someone has tidied up before
                    Path(path).unlink()
                    Path(path).parent.rmdir()
            elif isinstance(key.fileobj, socket.socket):
                _from_client(key, loop)
            else:
                _job_ended(key, loop)
    sys.exit(0)


def _accept(listener: socket.socket, loop: selectors.BaseSelector) -> str | None:
    client, _ = listener.accept()
    client.settimeout(ASKING_S)
    stdio: list[int] = []
    try:
        head, stdio, _, _ = socket.recv_fds(client, 4, 3)
        job = json.loads(_receive(client, struct.unpack("!I", head)[0]))
    except (OSError, ValueError, struct.error):
        job = None  # it was killed, or stopped, while it asked
    if job is None or any(job["environment"].get(n) != os.environ.get(n) for n in THREADS):
        client.close()  # which starts it in the ordinary way
        for fd in stdio:
            os.close(fd)
        return None
    client.settimeout(None)
    # Held back until the job can take them: the server ignores signals, and so does a new child.
    signal.pthread_sigmask(signal.SIG_BLOCK, FORWARDED)
    server, pid = os.getpid(), os.fork()
    if pid:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, FORWARDED)
    else:
        for key in [*loop.get_map().values()]:
            if isinstance(key.fileobj, socket.socket):
                key.fileobj.close()
        loop.close()
        client.close()
        _become(job, stdio, server)
        return job["script"]
    for fd in stdio:
        os.close(fd)
    loop.register(client, selectors.EVENT_READ, pid)
    loop.register(os.pidfd_open(pid), selectors.EVENT_READ, (pid, client))
    return None


def _become(job: dict, stdio: list[int], server: int) -> None:
    """Make this process what Python would be, had the client been it."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != server:
        os._exit(1)  # the server died before it could take this process with it
    for number in FORWARDED:
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for target, fd in enumerate(stdio):
        os.dup2(fd, target)
        os.close(fd)
    os.umask(job["umask"])
    os.chdir(job["folder"])
    os.environ.clear()
    os.environ.update(job["environment"])
    sys.argv = [job["script"]]
    sys.path.insert(0, str(Path(job["script"]).parent))


def execute(script: str) -> None:
    """Run the script and end as Python would, without taking apart what the server has imported.

    That would take half a second, and more memory than the job.
    """
    code: object = 0
    interrupted = False
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, FORWARDED)
        runpy.run_path(script, run_name="__main__")
    except SystemExit as end:
        code = 0 if end.code is None else end.code
    except BaseException as error:
        sys.excepthook(type(error), error, error.__traceback__)
        code, interrupted = 1, isinstance(error, KeyboardInterrupt)
    if not isinstance(code, int):
        print(code, file=sys.stderr)
        code = 1
    threading._shutdown()  # waits for threads that are no daemons
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    if interrupted:
        _die_of(signal.SIGINT)
    os._exit(code & 0xFF)


def _from_client(key: selectors.SelectorKey, loop: selectors.BaseSelector) -> None:
    """Signals, a byte for each; the end of the client is the end of its job."""
    try:
        signals = key.fileobj.recv(64) or bytes([signal.SIGKILL])
    except OSError:
        signals = bytes([signal.SIGKILL])
    for number in signals:
        os.kill(key.data, number)  # not reaped yet, so it is no other process
    if signal.SIGKILL in signals:
        loop.unregister(key.fileobj)


def _job_ended(key: selectors.SelectorKey, loop: selectors.BaseSelector) -> None:
    pid, client = key.data
    _, status = os.waitpid(pid, 0)
    loop.unregister(key.fileobj)
    os.close(key.fileobj)
    if client in (entry.fileobj for entry in loop.get_map().values()):
        loop.unregister(client)
    with contextlib.suppress(OSError):  # if nobody waits any more
        client.sendall(struct.pack("!i", os.waitstatus_to_exitcode(status)))
    client.close()


# ---------------------------------------------------------------- the client


def run(path: str, script: str) -> None:
    """The script by the server, or in the ordinary way."""
    server = socket.socket(socket.AF_UNIX)
    ended_by: list[int] = []

    def forward(number: int, _) -> None:
        ended_by.append(number)
        server.send(bytes([number]))

    job = {
        "script": script,
        "folder": str(Path.cwd()),
        "environment": dict(os.environ),
        "umask": os.umask(0),
    }
    os.umask(job["umask"])
    text = json.dumps(job).encode()
    try:
        server.connect(path)
        socket.send_fds(server, [struct.pack("!I", len(text))], [0, 1, 2])
        server.sendall(text)
        for number in FORWARDED:
            signal.signal(number, forward)
        (code,) = struct.unpack("!i", _receive(server, 4))
    except (OSError, ValueError):
        if ended_by:
            _die_of(ended_by[0])
        os.execv(sys.executable, [sys.executable, script])
    if code < 0:
        _die_of(-code)
    sys.exit(code)


def _die_of(number: int) -> None:
    if number != signal.SIGKILL:
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _receive(connection: socket.socket, size: int) -> bytes:
    """So many bytes, or a ValueError if the other side ends before."""
    received = b""
    while len(received) < size:
        chunk = connection.recv(size - len(received))
        if not chunk:
            raise ValueError("the connection ended")
        received += chunk
    return received


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        execute(serve(sys.argv[2], sys.argv[3:]))
    else:
        run(sys.argv[2], sys.argv[3])

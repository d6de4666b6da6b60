"""`python -m MODULE …` in forks of a process that has imported torch, pytest, Hypothesis: most of what a start takes.

Nothing of ours is imported before the fork. What starts Python itself: test_docs_run.py, and whoever asks for it.
"""

import atexit
import gc
import importlib
import json
import os
import runpy
import select
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import IO, NoReturn

IMPORTED = ("pytest", "torch", "hypothesis.extra.numpy", "msgspec", "rich.console", "typer")
SECONDS = 600.0  # that a module may run
LONGEST = 2**20  # bytes of a request
STATUS_BYTES = 4


def main() -> None:
    """Fork for each request that comes; a fork leaves the loop, and becomes what it was asked for."""
    for name in IMPORTED:
        importlib.import_module(name)
    for name in [name for name in sys.modules if name.lstrip("_").startswith("hypothesis")]:
        sys.modules[name].__doc__ = "PYTEST_DONT_REWRITE"  # or pytest warns that it comes too late to rewrite it
    gc.freeze()  # a fork that collects garbage would copy all of it
    line = socket.socket(fileno=int(sys.argv[1]))
    while True:
        request, descriptors, _, _ = socket.recv_fds(line, LONGEST, 2)
        if not request:
            return
        pid = os.fork()
        if pid == 0:
            line.close()
            break
        for descriptor in descriptors:
            os.close(descriptor)
        line.sendall(os.waitpid(pid, 0)[1].to_bytes(STATUS_BYTES, "little"))
    become(descriptors, **json.loads(request))


def become(descriptors: list[int], module: str, arguments: list[str], cwd: str, environment: dict[str, str]) -> None:
    """Run a module as Python does that has just been started there."""
    for number, descriptor in enumerate((os.open(os.devnull, os.O_RDONLY), *descriptors)):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    sys.path.insert(0, cwd)
    sys.argv = ["-m", *arguments]
    sys.orig_argv = [sys.executable, "-m", module, *arguments]
    importlib.invalidate_caches()
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        if threading.active_count() > 1 or not isinstance(ended.code, int | None):
            raise
        end(ended.code or 0)


def end(code: int) -> NoReturn:
    """End as Python does, but free no objects: that would copy all that a fork shares, ten times its own work."""
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


class Server:
    """The process that forks, as long as this one lives."""

    def __init__(self) -> None:
        self.line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            command = [sys.executable, "-P", __file__, str(theirs.fileno())]
            self.process = subprocess.Popen(command, pass_fds=[theirs.fileno()])
        atexit.register(self.close)

    def close(self) -> None:
        """Let it end."""
        self.line.close()
        self.process.wait()

    def status_of(self, request: bytes, descriptors: list[int]) -> int:
        """The wait status of a fork that became what was asked for."""
        socket.send_fds(self.line, [request], descriptors)
        ready, _, _ = select.select([self.line], [], [], SECONDS)
        status = self.line.recv(STATUS_BYTES) if ready else b""
        if len(status) < STATUS_BYTES:
            self.process.kill()
            server.cache_clear()
            raise TimeoutError(f"no end within {SECONDS:g} seconds: {request!r}")
        return int.from_bytes(status, "little")


@cache
def server() -> Server:
    """One for all tests of this process."""
    return Server()


def run_module(module: str, *arguments: str, cwd: Path, environment: Mapping[str, str]) -> tuple[int, str, str]:
    """The exit code, and what it wrote to its output and its error output."""
    request = {"module": module, "arguments": arguments, "cwd": str(cwd), "environment": dict(environment)}
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        status = server().status_of(json.dumps(request).encode(), [out.fileno(), err.fileno()])
        return os.waitstatus_to_exitcode(status), read(out), read(err)


def read(file: IO[bytes]) -> str:
    """All that was written to a file."""
    file.seek(0)
    return file.read().decode("utf-8", "replace")


if __name__ == "__main__":
    main()

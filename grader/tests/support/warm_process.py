"""`python -m MODULE …` in forks of a process that has imported torch, pytest, Hypothesis: most of what a start takes.

Nothing of ours is imported before the fork. What starts Python itself: test_docs_run.py, and whoever asks for it.
"""

import atexit
import fcntl
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import threading
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import IO, NoReturn

IMPORTED = ("pytest", "torch", "hypothesis.extra.numpy", "msgspec", "rich.console", "typer")
SECONDS = 600.0  # that a module may run
LONGEST = 2**20  # bytes of a request
NUMBER_BYTES = 4


def main() -> None:
    """Fork for each request that comes; a fork leaves the loop, and becomes what it was asked for."""
    for name in IMPORTED:
        importlib.import_module(name)
    for name in [name for name in sys.modules if name.lstrip("_").startswith("hypothesis")]:
        sys.modules[name].__doc__ = "PYTEST_DONT_REWRITE"  # or pytest warns that it comes too late to rewrite it
    gc.freeze()  # a fork that collects garbage would copy all of it
    line = socket.socket(fileno=int(sys.argv[1]))
    while True:
        request, descriptors, _, _ = socket.recv_fds(line, LONGEST, 3)
        if not request:
            return
        pid = os.fork()
        if pid == 0:
            line.close()
            break
        for descriptor in descriptors:
            os.close(descriptor)
        line.sendall(pid.to_bytes(NUMBER_BYTES, "little"))
        line.sendall(os.waitpid(pid, 0)[1].to_bytes(NUMBER_BYTES, "little"))
    become(descriptors, **json.loads(request))


def become(descriptors: list[int], module: str, arguments: list[str], cwd: str, environment: dict[str, str]) -> None:
    """Run a module as Python does that has just been started there; at a terminal, as the one that it belongs to."""
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    if os.isatty(0):
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # so that Ctrl-C is a signal
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        setattr(sys, name, open(number, "w" if number else "r", 1 if number == 2 else -1, closefd=False))  # noqa: SIM115
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

    def told(self, seconds: float) -> int | None:
        """The next number that it sends, None where none comes in time."""
        if not select.select([self.line], [], [], seconds)[0]:
            return None
        number = self.line.recv(NUMBER_BYTES)
        if not number:
            self.lose("it has ended")
        return int.from_bytes(number, "little")

    def lose(self, reason: str) -> NoReturn:
        """Do without it from now on. Raises ChildProcessError."""
        self.process.kill()
        server.cache_clear()
        raise ChildProcessError(f"the process that forks is lost: {reason}")


@cache
def server() -> Server:
    """One for all tests of this process."""
    return Server()


class Fork:
    """A module that runs beside us, as `subprocess.Popen` is a program that does; one at a time."""

    def __init__(
        self, command: Sequence[str], cwd: Path, environment: Mapping[str, str], descriptors: Sequence[int]
    ) -> None:
        module, *arguments = command
        request = {"module": module, "arguments": arguments, "cwd": str(cwd), "environment": dict(environment)}
        self.server = server()
        socket.send_fds(self.server.line, [json.dumps(request).encode()], descriptors)
        self.code: int | None = None
        self.pid = self.server.told(SECONDS) or self.server.lose("no fork")

    def poll(self) -> int | None:
        """Its exit code, None while it runs."""
        return self.ended(0.0)

    def ended(self, seconds: float) -> int | None:
        """Its exit code, None if it still runs after so many seconds."""
        if self.code is None and (status := self.server.told(seconds)) is not None:
            self.code = os.waitstatus_to_exitcode(status)
        return self.code

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code, once it has ended. Raises ChildProcessError if it never does."""
        code = self.ended(SECONDS if timeout is None else timeout)
        return self.server.lose("its fork does not end") if code is None else code

    def send_signal(self, number: int) -> None:
        """Send it a signal, if it still runs."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End it."""
        self.send_signal(signal.SIGKILL)


def run_module(*command: str, cwd: Path, environment: Mapping[str, str], typed: str = "") -> tuple[int, str, str]:
    """The exit code, and what it wrote to its output and its error output."""
    with tempfile.TemporaryFile() as keys, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        keys.write(typed.encode())
        keys.seek(0)
        code = Fork(command, cwd, environment, [file.fileno() for file in (keys, out, err)]).wait()
        return code, read(out), read(err)


def read(file: IO[bytes]) -> str:
    """All that was written to a file."""
    file.seek(0)
    return file.read().decode("utf-8", "replace")


if __name__ == "__main__":
    main()

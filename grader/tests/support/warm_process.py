"""Runs `python -m MODULE …` in a fork of a process that has already imported torch, pytest and Hypothesis.

This saves seconds per run. The process does not import anything from this repository before it forks. Tests of how
Python starts use `run_program` instead.
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
TIMEOUT = 600.0  # time limit of a module in seconds
MAX_REQUEST_BYTES = 2**20
NUMBER_BYTES = 4


def main() -> None:
    """Fork for each request. The child leaves the loop and runs the requested module."""
    for name in IMPORTED:
        importlib.import_module(name)
    for name in [name for name in sys.modules if name.lstrip("_").startswith("hypothesis")]:
        sys.modules[name].__doc__ = "PYTEST_DONT_REWRITE"  # otherwise pytest warns that it can no longer rewrite it
    gc.freeze()  # otherwise garbage collection in a fork would copy all objects
    line = socket.socket(fileno=int(sys.argv[1]))
    while True:
        request, descriptors, _, _ = socket.recv_fds(line, MAX_REQUEST_BYTES, 3)
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
    run_requested(descriptors, **json.loads(request))


def run_requested(
    descriptors: list[int], module: str, arguments: list[str], cwd: str, environment: dict[str, str]
) -> None:
    """Run a module in `cwd` as a new Python process would. If stdin is a terminal, make it the controlling terminal."""
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    if os.isatty(0):
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # so that Ctrl-C sends a signal
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
        exit_quickly(ended.code or 0)


def exit_quickly(code: int) -> NoReturn:
    """Exit without freeing objects, because freeing would copy all memory that is shared with the parent."""
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


class Server:
    """The process that forks a child for each module to run. It exits when this process exits."""

    def __init__(self) -> None:
        self.line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            command = [sys.executable, "-P", __file__, str(theirs.fileno())]
            self.process = subprocess.Popen(command, pass_fds=[theirs.fileno()])
        atexit.register(self.close)

    def close(self) -> None:
        self.line.close()
        self.process.wait()

    def receive(self, timeout: float) -> int | None:
        """Return the next number that the process sends, or None if it does not arrive before the timeout."""
        if not select.select([self.line], [], [], timeout)[0]:
            return None
        number = self.line.recv(NUMBER_BYTES)
        return int.from_bytes(number, "little") if number else self.fail("it has ended")

    def fail(self, reason: str) -> NoReturn:
        """Kill the process so that the next fork starts a new one, and raise ChildProcessError."""
        self.process.kill()
        get_server.cache_clear()
        raise ChildProcessError(f"the forking process is lost: {reason}")


get_server = cache(Server)


class Fork:
    """A module running in a fork, with some of the methods of `subprocess.Popen`. Only one can run at a time."""

    def __init__(
        self, command: Sequence[str], cwd: Path, environment: Mapping[str, str], descriptors: Sequence[int]
    ) -> None:
        module, *arguments = command
        request = {"module": module, "arguments": arguments, "cwd": str(cwd), "environment": dict(environment)}
        self.server = get_server()
        socket.send_fds(self.server.line, [json.dumps(request).encode()], descriptors)
        self.code: int | None = None
        self.pid = self.server.receive(TIMEOUT) or self.server.fail("no fork")

    def poll(self, timeout: float = 0.0) -> int | None:
        """Return the exit code, or None if the fork is still running after the timeout."""
        if self.code is None and (status := self.server.receive(timeout)) is not None:
            self.code = os.waitstatus_to_exitcode(status)
        return self.code

    def wait(self, timeout: float = TIMEOUT) -> int:
        code = self.poll(timeout)
        return self.server.fail("its fork does not end") if code is None else code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def run_module(*command: str, cwd: Path, environment: Mapping[str, str], typed: str = "") -> tuple[int, str, str]:
    """Run a module with `typed` as its input and return its exit code, output and error output."""
    with tempfile.TemporaryFile() as keys, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        keys.write(typed.encode())
        keys.seek(0)
        code = Fork(command, cwd, environment, [file.fileno() for file in (keys, out, err)]).wait()
        return code, read_whole(out), read_whole(err)


def read_whole(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "replace")


if __name__ == "__main__":
    main()

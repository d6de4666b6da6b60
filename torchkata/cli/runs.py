"""Runs pytest in the background, either in a fork of a process that has imported torch or in a new process."""

import importlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Sequence
from importlib import metadata
from pathlib import Path
from typing import IO, TypeAlias, Union

from torchkata.course import course

NEEDED = ("numpy", "hypothesis", "pytest", "torchkata.compare.assertions", "torchkata.diagnosis.explain")
EXPECTED = "-Wignore:Module already imported:pytest.PytestAssertRewriteWarning"  # the `kata` command imported it
ISOLATED = ("-p", "torchkata.cli.isolated_tests")
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}  # each reserves memory
OWN_PLUGINS = ("torchkata.pytest_plugin.plugin", "hypothesispytest")


def can_fork() -> bool:
    """Return whether the platform supports fork."""
    return hasattr(os, "fork")


def can_isolate() -> bool:
    """Return whether each test can run in a fork of a process that has imported torch, with limited memory."""
    return sys.platform == "linux"


def load(modules: Iterable[str] = NEEDED) -> None:
    """Import libraries that every run needs, or the run of a kata, so that forked runs start immediately.

    Do not compute anything here, because torch hangs in a forked process if an operation has used several threads
    before.
    """
    for module in (*course().preload, *modules):
        importlib.import_module(module)


def list_options() -> list[str]:
    """Return the options of every run. A plugin that pytest would find only through PYTHONPATH is not loaded.

    It is meant for another program's environment, such as that of ROS, and breaks pytest if its packages are missing.
    """
    folders = {Path(folder).resolve() for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep) if folder}
    foreign = [
        plugin.name
        for package in metadata.distributions(path=[*map(str, folders)])
        for plugin in package.entry_points
        if plugin.group == "pytest11" and plugin.name not in OWN_PLUGINS
    ]
    return [EXPECTED, *(option for name in foreign for option in ("-p", f"no:{name}"))]


class Forked:
    """A pytest run in a fork of this process."""

    def __init__(self, arguments: Sequence[str], output: IO[bytes] | None) -> None:
        self.code: int | None = None
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if self.pid == 0:
            run_in_child(arguments, output)

    def poll(self) -> int | None:
        """Return the exit code, or None if the process is still running."""
        return self.reap(os.WNOHANG)

    def kill(self) -> None:
        """Kill the process."""
        if self.code is None:
            os.kill(self.pid, signal.SIGKILL)

    def wait(self) -> int:
        """Wait for the process to exit, and return its exit code."""
        self.reap(0)
        assert self.code is not None
        return self.code

    def reap(self, options: int) -> int | None:
        """Call `waitpid` unless the exit code is already known. Return the exit code, or None if it is not known."""
        if self.code is None:
            pid, status = os.waitpid(self.pid, options)
            self.code = os.waitstatus_to_exitcode(status) if pid else None
        return self.code


Run: TypeAlias = Union[Forked, "subprocess.Popen[bytes]"]


def run_in_child(arguments: Sequence[str], output: IO[bytes] | None) -> None:
    """Run pytest in the forked process, then exit."""
    code = 70
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is handled by the parent, which kills this process
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        if output is not None:
            os.dup2(output.fileno(), 1)
            os.dup2(output.fileno(), 2)
        import pytest

        code = int(pytest.main([*list_options(), *arguments]))
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


def start(arguments: Sequence[str], output: IO[bytes] | None) -> "subprocess.Popen[bytes]":
    """Start pytest in a new process."""
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "pytest", *list_options(), *arguments],
        cwd=course().root,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=None if output is None else subprocess.STDOUT,
    )

"""Runs the tests of a kata outside of the notebook kernel, so that the notebook's variables do not affect them."""

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from torchkata.cli import runs
from torchkata.course import Kata, course

PLUGINS = ("-p", "torchkata.pytest_plugin.plugin", "-p", "torchkata.notebook.verdict")


@dataclass(frozen=True)
class FinishedRun:
    """A finished run: its report as HTML ("" if the run ended early), its output, and its exit code."""

    html: str
    printed: str
    code: int


class Client:
    """Runs tests in forks of a server that has imported torch, or in new processes if the platform lacks fork."""

    def __init__(self) -> None:
        self.server = start_server() if runs.can_fork() else None

    def test(self, kata: Kata) -> FinishedRun:
        """Run the tests of a kata. If a forked run crashes, repeat it in a new process."""
        with tempfile.TemporaryDirectory() as folder:
            file, printed = Path(folder) / "verdict.html", Path(folder) / "printed.txt"
            arguments = [*PLUGINS, "--color=no", f"--kata={kata.name}", f"--verdict={file}"]
            code = self.run_forked(arguments, printed) if self.server else -1
            if code < 0 and not file.exists():
                code = run_new(arguments, printed)
            html = file.read_text("utf-8") if file.exists() else ""
            return FinishedRun(html, printed.read_text("utf-8", "replace"), code)

    def run_forked(self, arguments: list[str], printed: Path) -> int:
        """Run pytest in a fork of the server.

        Return its exit code, which is negative if the fork or the server crashed.
        """
        assert self.server is not None
        try:
            self.send(json.dumps({"arguments": arguments, "output": str(printed)}))
            return int(self.receive())
        except KeyboardInterrupt:
            self.send("")
            self.receive()
            raise
        except (OSError, ValueError):  # the server has exited; if it can't import torch, pytest will report this
            self.server = start_server()
            return -1

    def send(self, line: str) -> None:
        """Send a line to the server. Raises OSError if the server has exited."""
        assert self.server is not None
        assert self.server.stdin is not None
        self.server.stdin.write(f"{line}\n")
        self.server.stdin.flush()

    def receive(self) -> str:
        """Return the server's reply, or "" if the server has exited."""
        assert self.server is not None
        assert self.server.stdout is not None
        return self.server.stdout.readline()


def start_server() -> "subprocess.Popen[str]":
    """Start a server in its own session, so that interrupting the kernel does not end it."""
    return subprocess.Popen(
        [sys.executable, "-m", "torchkata.notebook.server"],
        cwd=course().root,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )


def run_new(arguments: list[str], printed: Path) -> int:
    """Run pytest in a new process and return its exit code."""
    with printed.open("wb") as file:
        run = runs.start(arguments, file)
        try:
            return run.wait()
        finally:
            run.kill()


def run_command(arguments: list[str]) -> None:
    """Run `kata …` as in a terminal, and print its output line by line."""
    with subprocess.Popen(
        [sys.executable, "-m", "torchkata", *arguments],
        cwd=course().root,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="")

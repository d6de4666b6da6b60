"""Runs a kata's tests beside the notebook's kernel, whose own variables and changes stay out of the verdict."""

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
class Ended:
    """A run: its verdict as HTML, "" where it ended before there was one, what it printed, and its exit code."""

    html: str
    printed: str
    code: int


class Client:
    """Where the platform can fork, a server that has imported torch is asked; elsewhere each run is a new process."""

    def __init__(self) -> None:
        self.server = start() if runs.can_fork() else None

    def test(self, kata: Kata) -> Ended:
        """Run the tests of a kata; once more, in a process of its own, where a fork has died before its verdict."""
        with tempfile.TemporaryDirectory() as folder:
            file, printed = Path(folder) / "verdict.html", Path(folder) / "printed.txt"
            arguments = [*PLUGINS, "--color=no", f"--kata={kata.name}", f"--verdict={file}"]
            code = self.forked(arguments, printed) if self.server else -1
            if code < 0 and not file.exists():
                code = alone(arguments, printed)
            html = file.read_text("utf-8") if file.exists() else ""
            return Ended(html, printed.read_text("utf-8", "replace"), code)

    def forked(self, arguments: list[str], printed: Path) -> int:
        """The exit code of a fork, below 0 for one that died, or if the server did."""
        assert self.server is not None
        try:
            self.say(json.dumps({"arguments": arguments, "output": str(printed)}))
            return int(self.heard())
        except KeyboardInterrupt:
            self.say("")
            self.heard()
            raise
        except (OSError, ValueError):  # it is gone; perhaps torch can't be imported, and pytest will say so
            self.server = start()
            return -1

    def say(self, line: str) -> None:
        """Tell the server. Raises OSError where it is gone."""
        assert self.server is not None
        assert self.server.stdin is not None
        self.server.stdin.write(f"{line}\n")
        self.server.stdin.flush()

    def heard(self) -> str:
        """What it answers; "" where it is gone."""
        assert self.server is not None
        assert self.server.stdout is not None
        return self.server.stdout.readline()


def start() -> "subprocess.Popen[str]":
    """A server, in a session of its own: to interrupt the kernel is not to end it."""
    return subprocess.Popen(
        [sys.executable, "-m", "torchkata.notebook.server"],
        cwd=course().root,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )


def alone(arguments: list[str], printed: Path) -> int:
    """The exit code of a run in a process of its own."""
    with printed.open("wb") as file:
        run = runs.started(arguments, file)
        try:
            return run.wait()
        finally:
            run.kill()


def command(arguments: list[str]) -> None:
    """`kata …`, as in a terminal: print what it prints, line by line."""
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

"""The command `kata`: what was typed, and who does it.

Exit codes: 0 done; 1 a test failed, or your code raised; 2 the call is wrong; 3 the machine's fault; 130 Ctrl-C.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from ..course import CourseError, Kata, course
from ..languages import words
from ..languages.katas import texts_of_command
from ..state import load
from . import about, brought, export, hint, overview, reset
from .terminal import CallError, prepare, say


class Parser(argparse.ArgumentParser):
    """Says what is wrong with a call in one line."""

    def error(self, message: str) -> NoReturn:
        """Raises CallError."""
        raise CallError(message)


def parser() -> Parser:
    """What can be typed."""
    made = Parser(prog="kata", description=words("kata"), allow_abbrev=False)
    commands = made.add_subparsers(dest="command", metavar="COMMAND")
    commands.add_parser("next", help=words("kata.next"))
    for command, does in (("about", words("kata.about")), ("hint", words("kata.hint"))):
        commands.add_parser(command, help=does).add_argument(
            "kata", nargs="?", metavar="KATA", help=words("kata.or_next")
        )
    commands.add_parser("watch", help=words("kata.watch"))
    again = commands.add_parser("reset", help=words("kata.reset"))
    again.add_argument("kata", metavar="KATA", help=words("kata.reset.kata"))
    again.add_argument("--yes", action="store_true", help=words("kata.reset.yes"))
    for name, kata in brought.commands().items():
        commands.add_parser(name, help=texts_of_command(kata)["help"])
    commands.add_parser("export", help=words("kata.export")).add_argument(
        "zip", nargs="?", type=Path, default=Path("assignment.zip"), metavar="ZIP", help=words("kata.export.zip")
    )
    return made


def run(arguments: Sequence[str]) -> int:
    """Do what was typed: the exit code. Raises CallError, or OSError where the machine is at fault."""
    asked = parser().parse_args(arguments)
    match asked.command:
        case "next":
            return run_next()
        case "about" | "hint":
            kata = named(asked.kata) if asked.kata else load().next()
            if kata is None:
                overview.show_next(load())
            else:
                {"about": about, "hint": hint}[asked.command].show(kata)
        case "watch":
            from .watch import watch  # imports torch

            return watch()
        case "reset":
            reset.reset(named(asked.kata), asked=asked.yes)
        case "export":
            export.export(asked.zip)
        case None:
            overview.show(load())
        case name:
            return brought.run(brought.commands()[name])
    return 0


def named(kata: str) -> Kata:
    """The kata of this name. Raises CallError."""
    if kata not in course().katas:
        raise CallError(words("unknown", kata=repr(kata), katas=", ".join(course().katas)))
    return course().katas[kata]


def run_next() -> int:
    """The next kata's tests, in this process: pytest's exit code."""
    kata = load().next()
    if kata is None:
        overview.show_next(load())
        return 0
    import pytest

    from .runs import EXPECTED

    os.chdir(course().root)
    return pytest.main([EXPECTED, f"--kata={kata.name}"])


def main() -> NoReturn:
    """Entry point."""
    prepare()
    try:
        sys.exit(run(sys.argv[1:]))
    except (CallError, CourseError) as error:
        print(words("error", text=error), file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        print(words("error", text=error), file=sys.stderr)
        sys.exit(3)
    except KeyboardInterrupt:
        say("stopped")
        sys.exit(130)

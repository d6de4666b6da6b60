"""The command `kata`: what was typed, and who does it.

Exit codes: 0 done; 1 a test failed; 2 the call is wrong; 3 the machine's fault; 130 Ctrl-C.
"""

import argparse
import os
import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NoReturn

from ..course import CourseError, Kata, course, nearest
from ..languages import words
from ..state import load
from . import about, export, hint, overview, reset
from .terminal import CallError, prepare, say


class Parser(argparse.ArgumentParser):
    """Says what is wrong with a call in one line."""

    commands: Collection[str] = ()

    def error(self, message: str) -> NoReturn:
        """Raises CallError."""
        raise CallError(message)


def parser() -> Parser:
    """What can be typed."""
    made = Parser(prog="kata", description=words("kata"), allow_abbrev=False)
    commands = made.add_subparsers(dest="command", metavar="COMMAND")
    made.commands = commands.choices
    for command, does in (
        ("next", words("kata.next")),
        ("about", words("kata.about")),
        ("hint", words("kata.hint")),
    ):
        commands.add_parser(command, help=does).add_argument(
            "kata", nargs="?", metavar="KATA", help=words("kata.or_next")
        )
    commands.add_parser("watch", help=words("kata.watch"))
    again = commands.add_parser("reset", help=words("kata.reset"))
    again.add_argument("kata", metavar="KATA", help=words("kata.reset.kata"))
    again.add_argument("--yes", action="store_true", help=words("kata.reset.yes"))
    commands.add_parser("export", help=words("kata.export")).add_argument(
        "zip", nargs="?", type=Path, default=Path("assignment.zip"), metavar="ZIP", help=words("kata.export.zip")
    )
    return made


def run(arguments: Sequence[str]) -> int:
    """Do what was typed, `kata NAME` as `kata next NAME`: the exit code. Raises CallError, or OSError."""
    made = parser()
    if arguments and not arguments[0].startswith("-") and arguments[0] not in made.commands:
        arguments = ["next", named(arguments[0], made.commands).name, *arguments[1:]]
    asked = made.parse_args(arguments)
    match asked.command:
        case "next" | "about" | "hint":
            kata = named(asked.kata) if asked.kata else load().next()
            if kata is None:
                overview.show_next(load())
            elif asked.command == "next":
                return test(kata)
            else:
                {"about": about, "hint": hint}[asked.command].show(kata)
        case "watch":
            from .watch import watch  # imports torch

            return watch()
        case "reset":
            reset.reset(named(asked.kata), asked=asked.yes)
        case "export":
            export.export(asked.zip)
        case _:
            overview.show(load())
    return 0


def named(kata: str, commands: Collection[str] = ()) -> Kata:
    """The kata of this name. Raises CallError, which says what else was meant: a kata or one of the commands."""
    if kata not in course().katas:
        near = nearest(kata, [*commands, *course().katas])
        raise CallError(words("unknown.near" if near else "unknown", kata=repr(kata), near=near))
    return course().katas[kata]


def test(kata: Kata) -> int:
    """A kata's tests, in this process: pytest's exit code."""
    import pytest

    from .runs import EXPECTED

    os.chdir(course().root)
    return pytest.main([EXPECTED, f"--kata={kata.name}"])


def main() -> NoReturn:
    """Entry point."""
    prepare()
    try:
        code = run(sys.argv[1:])
        sys.stdout.flush()
        sys.exit(code)
    except (CallError, CourseError) as error:
        print(words("error", text=error), file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:  # who reads, such as `head`, has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        print(words("error", text=error), file=sys.stderr)
        sys.exit(3)
    except KeyboardInterrupt:
        say("stopped")
        sys.exit(130)

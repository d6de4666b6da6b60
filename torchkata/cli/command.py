"""The command `kata`: what was typed, and who does it.

Exit codes: 0 done; 1 a test failed, or your code raised; 2 the call is wrong; 3 the machine's fault; 130 Ctrl-C.
"""

import os
import sys
from collections.abc import Collection, Sequence
from importlib import metadata
from pathlib import Path
from typing import NoReturn

from torchkata.course import CourseError, Kata, course, nearest
from torchkata.i18n import padded, words
from torchkata.i18n.katas import texts_of_command
from torchkata.i18n.notes import said
from torchkata.pytest_plugin.history import load_state

from . import about, export, hint, overview, reset
from . import plugins as brought
from .terminal import CallError, prepare, say

TAKES = {
    "next": ["[KATA]"],
    "about": ["[KATA]"],
    "hint": ["[KATA]"],
    "watch": [],
    "check": ["[KATA…]"],
    "reset": ["KATA", "[--yes]"],
    "export": ["[ZIP]"],
    "update": ["HANDOUT"],
}
HELP = {"-h", "--help"}
VERSION = "--version"


def takes() -> dict[str, list[str]]:
    """What each command takes; those that a kata brings take nothing."""
    return TAKES | {name: [] for name in brought.commands()}


def does(command: str) -> str:
    """What it does, in a line."""
    kata = brought.commands().get(command)
    return texts_of_command(kata)["help"] if kata else words(f"kata.{command}")


def usage(command: str) -> str:
    """How a command is typed."""
    return " ".join(["kata", command, *takes()[command]])


def show_help() -> None:
    """Print what can be typed."""
    print(words("kata") + "\n")
    width = max(len(usage(command)) for command in takes()) + 2
    for command in takes():
        print(f"  {padded(usage(command), width)}{does(command)}")
    print()
    for argument in ("KATA", "--yes", "ZIP", "HANDOUT", VERSION):
        print(f"  {padded(argument, width)}{words(f'kata.{argument}')}")


def version() -> str:
    """Of the engine, and of the Python that it runs on."""
    try:
        ours = metadata.version("torchkata")
    except metadata.PackageNotFoundError:  # a copy that nobody installed
        ours = "?"
    return f"torchkata {ours}, Python {sys.version.split()[0]}"


def demand(arguments: Sequence[str]) -> None:
    """Raise CallError for a call that is none of those in the help."""
    command, *given = arguments
    if command not in takes():
        raise CallError(words("call.unknown", command=repr(command), commands=", ".join(takes())))
    named = [one for one in given if one != "--yes" or command != "reset"]
    wanted = [one for one in takes()[command] if one != "[--yes]"]
    most = len(named) if any("…" in one for one in wanted) else len(wanted)
    enough = len([one for one in wanted if one[0] != "["]) <= len(named) <= most
    if not enough or any(one.startswith("-") for one in named):
        raise CallError(words("call.wrong", typed=" ".join(["kata", *arguments]), usage=usage(command)))


def run(arguments: Sequence[str]) -> int:
    """Do what was typed, `kata NAME` as `kata next NAME`: the exit code. Raises CallError, or OSError."""
    if HELP & {*arguments}:
        show_help()
        return 0
    if VERSION in arguments[:1]:
        print(version())
        return 0
    if not arguments:
        overview.show(load_state())
        return 0
    if arguments[0] not in takes() and not arguments[0].startswith("-"):
        arguments = ["next", named(arguments[0], takes()).name, *arguments[1:]]
    demand(arguments)
    command, *given = arguments
    name = next((one for one in given if one != "--yes"), "")
    match command:
        case "next" | "about" | "hint":
            kata = named(name) if name else load_state().next()
            if kata is None:
                overview.show_next(load_state())
            elif command == "next":
                return test(kata)
            else:
                {"about": about, "hint": hint}[command].show(kata)
        case "watch":
            from .watch import watch  # imports torch

            return watch()
        case "check":
            from .check import check  # imports pytest

            return check([named(one) for one in given])
        case "reset":
            reset.reset(named(name), asked="--yes" in given)
        case "export":
            return export.export(Path(name) if name else None)
        case "update":
            from .update import update  # imports what talks to servers

            update(name)
        case _:
            return brought.run(brought.commands()[command])
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

    return pytest.main([EXPECTED, f"--kata={kata.name}", str(course().tests)])


def main() -> NoReturn:
    """Entry point."""
    prepare()
    try:
        code = run(sys.argv[1:])
        sys.stdout.flush()
        sys.exit(code)
    except (CallError, CourseError) as error:
        print(words("error", text=said(str(error))), file=sys.stderr)
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

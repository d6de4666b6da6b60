"""The `kata` command: parses the command line and runs the command.

Exit codes: 0 success; 1 a test failed or the student's code raised an exception; 2 wrong usage; 3 a problem with the
machine; 130 Ctrl-C.
"""

import os
import sys
from collections.abc import Collection, Sequence
from importlib import metadata
from pathlib import Path
from typing import NoReturn

from torchkata.course import CourseError, Kata, NoCourseError, course, nearest
from torchkata.i18n import pad, words
from torchkata.i18n.katas import texts_of_command
from torchkata.i18n.notes import translate
from torchkata.pytest_plugin.history import load_state

from . import about, export, hint, overview, plugins, predict, reset, self_study
from .packages import demand_packages
from .terminal import CallError, prepare, say

ARGUMENTS = {
    "init": ["[DIR]"],
    "next": ["[KATA]"],
    "about": ["[KATA]"],
    "hint": ["[KATA]"],
    "predict": ["KATA"],
    "watch": [],
    "check": ["[KATA…]"],
    "reset": ["KATA", "[--yes]"],
    "export": ["[ZIP]"],
    "update": ["[HANDOUT]"],
    "solution": ["KATA"],
}
HELP = {"-h", "--help"}
VERSION = "--version"


def list_commands() -> dict[str, list[str]]:
    """Return the arguments of each command. Commands that are added by katas may also have options."""
    added = plugins.list_options()
    return ARGUMENTS | {name: [f"[{key} {key[2:].upper()}]" for key in added[name]] for name in added}


def usage(command: str) -> str:
    """Return a command and its arguments, as shown in the help."""
    return " ".join(["kata", command, *list_commands()[command]])


def show_help() -> None:
    """Print the help."""
    print(words("kata") + "\n")
    added = plugins.find_commands()
    width = max(len(usage(command)) for command in ARGUMENTS) + 2
    for command in list_commands():
        text = texts_of_command(added[command])["help"] if command in added else words(f"kata.{command}")
        shown = f"kata {command}" if command in added else usage(command)
        print(f"  {pad(shown, width)}{text}")
    print()
    for command, options in plugins.list_options().items():
        for option in options:
            print(f"  {pad(option, width)}{texts_of_command(added[command])[option]}")
    for argument in ("DIR", "KATA", "--yes", "ZIP", "HANDOUT", VERSION):
        print(f"  {pad(argument, width)}{words(f'kata.{argument}')}")


def version() -> str:
    """Return the versions of torchkata and Python."""
    try:
        number = metadata.version("torchkata")
    except metadata.PackageNotFoundError:  # torchkata was copied and not installed
        number = "?"
    return f"torchkata {number}, Python {sys.version.split()[0]}"


def check_usage(arguments: Sequence[str]) -> None:
    """Raise CallError if the arguments are not a command with a valid number of arguments."""
    command, *rest = arguments
    if command not in list_commands():
        raise CallError(words("call.unknown", command=repr(command), commands=", ".join(list_commands())))
    _, left = plugins.parse_options(command, rest)
    given = [text for text in left if text != "--yes" or command != "reset"]
    expected = [text for text in list_commands()[command] if not text.startswith("[--")]
    least = sum(not text.startswith("[") for text in expected)
    most = len(given) if any("…" in text for text in expected) else len(expected)
    if not least <= len(given) <= most or any(text.startswith("-") for text in given):
        raise CallError(words("call.wrong", typed=" ".join(["kata", *arguments]), usage=usage(command)))


def run(arguments: Sequence[str]) -> int:
    """Run a command and return the exit code. `kata NAME` is short for `kata next NAME`.

    Raises CallError if the command can't be executed, or OSError if a file can't be read or written.
    """
    if HELP & {*arguments}:
        show_help()
        return 0
    if VERSION in arguments[:1]:
        print(version())
        return 0
    if not arguments:
        overview.show(load_state())
        return 0
    if arguments[0] not in list_commands() and not arguments[0].startswith("-"):
        arguments = ["next", find_kata(arguments[0], list_commands()).name, *arguments[1:]]
    check_usage(arguments)
    command, *rest = arguments
    name = next((text for text in rest if text != "--yes"), "")
    if command in ("next", "predict", "watch", "check", *plugins.find_commands()):
        demand_packages()
    match command:
        case "init":
            self_study.init(Path(name or self_study.FOLDER))
        case "next" | "about" | "hint":
            kata = find_kata(name) if name else load_state().next()
            if kata is None:
                overview.show_next(load_state())
            elif command == "next":
                return test(kata)
            else:
                {"about": about, "hint": hint}[command].show(kata)
        case "predict":
            predict.predict(find_kata(name))
        case "watch":
            from .watch import watch  # imports torch

            return watch()
        case "check":
            from .check import check  # imports pytest

            return check([find_kata(text) for text in rest])
        case "reset":
            reset.reset(find_kata(name), confirmed="--yes" in rest)
        case "export":
            return export.export(Path(name) if name else None)
        case "update":
            from .update import update  # imports urllib

            update(name)
        case "solution":
            self_study.show_solution(find_kata(name))
        case _:
            options, _ = plugins.parse_options(command, rest)
            return plugins.run(plugins.find_commands()[command], options)
    return 0


def find_kata(name: str, commands: Collection[str] = ()) -> Kata:
    """Return the kata with this name. Raises CallError, which suggests a similar name, if it does not exist."""
    if name not in course().katas:
        near = nearest(name, [*commands, *course().katas])
        raise CallError(words("unknown.near" if near else "unknown", kata=repr(name), near=near))
    return course().katas[name]


def test(kata: Kata) -> int:
    """Run the tests of a kata in this process and return the exit code of pytest."""
    import pytest

    from .runs import EXPECTED

    return pytest.main([EXPECTED, f"--kata={kata.name}", str(course().tests)])


def main() -> NoReturn:
    """Run the command line."""
    prepare()
    try:
        code = run(sys.argv[1:])
        sys.stdout.flush()
        sys.exit(code)
    except NoCourseError:
        print(words("error", text=words("no_course")), file=sys.stderr)
        sys.exit(2)
    except (CallError, CourseError) as error:
        print(words("error", text=translate(str(error))), file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:  # the program that reads the output (such as `head`) has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        print(words("error", text=error), file=sys.stderr)
        sys.exit(3)
    except KeyboardInterrupt:
        say("stopped")
        sys.exit(130)

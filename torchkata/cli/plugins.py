"""Commands added by katas, such as `kata measure`. The `run` function in a kata's `command.py` runs student code.

`run` receives the command's options as keyword arguments and yields the lines of the output. It raises SystemExit with
a message if an option is invalid, or OSError if the machine has a problem.
"""

import importlib
import sys
from collections.abc import Mapping, Sequence
from getopt import GetoptError, getopt
from typing import TYPE_CHECKING

from torchkata.course import CourseError, Kata, course
from torchkata.i18n import words
from torchkata.i18n.katas import texts_of_command

from .terminal import CallError

if TYPE_CHECKING:
    from torchkata.seam.reply import Reply


def find_commands() -> dict[str, Kata]:
    """Return the katas that add a command, keyed by the command's name. The dict is empty if there is no course."""
    try:
        return {kata.command["name"]: kata for kata in course().katas.values() if kata.command}
    except CourseError:
        return {}


def list_options() -> dict[str, list[str]]:
    """Return the options of each command: the keys of its table that begin with `--`."""
    return {name: [key for key in kata.command if key.startswith("--")] for name, kata in find_commands().items()}


def parse_options(command: str, arguments: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """Return the values of a command's options by name, and the remaining arguments, including unknown options."""
    names = [key.removeprefix("--") for key in list_options().get(command, [])]
    try:
        pairs, rest = getopt(list(arguments), "", [f"{name}=" for name in names])
    except GetoptError:
        return {}, list(arguments)
    return {key.removeprefix("--"): value for key, value in pairs}, rest


def run(kata: Kata, options: Mapping[str, str]) -> int:
    """Run a kata's command and print its output. Return the exit code: 1 if student code raises an exception, else 0.

    Raises CallError if the command exits with a message, or OSError if the machine has a problem.
    """
    from torchkata.seam.assignment import Assignment
    from torchkata.seam.reply import make_reply  # imports torch

    assignment = Assignment(course().assignment)
    command = importlib.import_module(f"reference.{kata.name}.command")
    try:
        for line in command.run(assignment, texts_of_command(kata), **options):
            print(line, flush=True)
    except SystemExit as error:
        if isinstance(error.code, str):
            raise CallError(error.code) from None
        raise
    except Exception as error:
        reply = make_reply(error, assignment)
        if isinstance(error, OSError) and not reply.file:
            raise
        print(words("error", text=describe_error(reply)), file=sys.stderr)
        return 1
    return 0


def describe_error(reply: "Reply") -> str:
    """Return a one-line description of the error in the student's code, with the number of the line that raised it."""
    place = words("message.at", file=reply.file, line=reply.line) if reply.line else reply.file
    if reply.outcome == "not_written" and reply.line:
        return words("message.to_do", file=reply.file, line=reply.line)
    if reply.outcome == "not_written":
        return words("message.no_file", file=reply.file)
    return words("message.error_at", error=reply.error, place=place) if place else reply.error

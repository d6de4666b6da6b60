"""Commands added by katas, such as `kata measure`. The `run` function in a kata's `command.py` runs student code.

`add_options`, if the module has it, adds the command's options to a parser of argparse. `run` receives them as keyword
arguments and yields the lines of the output. It raises SystemExit with a message if an option is invalid, or OSError if
the machine has a problem.
"""

import importlib
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from torchkata.course import CourseError, Kata, course
from torchkata.i18n import _
from torchkata.i18n.katas import texts_of_command
from torchkata.streams import LentStreams

from .parser import Parser
from .terminal import UsageError

if TYPE_CHECKING:
    from torchkata.inside.reply import Reply


def find_commands() -> dict[str, Kata]:
    """Return the katas that add a command, keyed by the command's name. The dict is empty if there is no course."""
    try:
        return {kata.command["name"]: kata for kata in course().katas.values() if kata.command}
    except CourseError:
        return {}


def run(kata: Kata, arguments: Sequence[str]) -> int:
    """Run a kata's command and print its output. Return the exit code: 1 if student code raises an exception, else 0.

    Raises UsageError if the arguments are wrong or the command exits with a message, OSError if the machine has a
    problem, or SystemExit after the help.
    """
    from torchkata.inside.assignment import Assignment
    from torchkata.inside.reply import make_reply  # imports torch

    assignment, texts = Assignment(course().assignment), texts_of_command(kata)
    command = importlib.import_module(f"reference.{kata.name}.command")
    parser = Parser(f"kata {kata.command['name']}", texts["help"])
    if hasattr(command, "add_options"):
        command.add_options(parser, texts)
    options = vars(parser.parse_args(arguments))
    out = sys.stdout
    try:
        with LentStreams().lend():
            for line in command.run(assignment, texts, **options):
                print(line, flush=True, file=out)
    except SystemExit as error:
        if isinstance(error.code, str):
            raise UsageError(error.code) from None
        raise
    except Exception as error:
        reply = make_reply(error, assignment)
        if isinstance(error, OSError) and not reply.file:
            raise
        print(_("kata: {text}", text=describe_error(reply)), file=sys.stderr)
        return 1
    return 0


def describe_error(reply: "Reply") -> str:
    """Return a one-line description of the error in the student's code, with the number of the line that raised it."""
    place = _("{file}, line {line}", file=reply.file, line=reply.line) if reply.line else reply.file
    if reply.outcome == "not_written" and reply.line:
        return _("{file}, line {line}, still raises NotImplementedError", file=reply.file, line=reply.line)
    if reply.outcome == "not_written":
        return _("{file} does not exist", file=reply.file)
    from torchkata.seam.student import translate_error  # imports torch

    error = translate_error(reply)
    return _("{error} ({place})", error=error, place=place) if place else error

"""Commands added by katas, such as `kata measure`. The function `run` in the kata's `command.py` uses student code."""

import importlib
import sys
from typing import TYPE_CHECKING

from torchkata.course import CourseError, Kata, course
from torchkata.i18n import words
from torchkata.i18n.katas import texts_of_command

if TYPE_CHECKING:
    from torchkata.seam.reply import Reply


def find_commands() -> dict[str, Kata]:
    """Return the katas that add a command, keyed by the name of the command. Without a course, the dict is empty."""
    try:
        return {kata.command["name"]: kata for kata in course().katas.values() if kata.command}
    except CourseError:
        return {}


def run(kata: Kata) -> int:
    """Run a kata's command and print its output. Return the exit code, which is 1 if the student's code raised."""
    from torchkata.seam.assignment import Assignment
    from torchkata.seam.reply import make_reply  # imports torch

    assignment = Assignment(course().assignment)
    command = importlib.import_module(f"reference.{kata.name}.command")
    try:
        for line in command.run(assignment, texts_of_command(kata)):
            print(line, flush=True)
    except Exception as error:
        print(words("error", text=describe_error(make_reply(error, assignment))), file=sys.stderr)
        return 1
    return 0


def describe_error(reply: "Reply") -> str:
    """Return a one-line description of the error raised by the student's code, including the line."""
    place = words("message.at", file=reply.file, line=reply.line) if reply.line else reply.file
    if reply.outcome == "not_written" and reply.line:
        return words("message.to_do", file=reply.file, line=reply.line)
    return f"{reply.error} ({place})" if place else reply.error

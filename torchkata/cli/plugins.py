"""A command that a kata brings: `run` of `command.py` in its folder, which works with the student's own code."""

import importlib
import sys
from typing import TYPE_CHECKING

from torchkata.course import CourseError, Kata, course
from torchkata.i18n import words
from torchkata.i18n.katas import texts_of_command

if TYPE_CHECKING:
    from torchkata.seam.reply import Reply


def commands() -> dict[str, Kata]:
    """The katas that bring a command, by its name; none where there is no course."""
    try:
        return {kata.command["name"]: kata for kata in course().katas.values() if kata.command}
    except CourseError:
        return {}


def run(kata: Kata) -> int:
    """Print line after line: the exit code, 1 where the student's code raises."""
    from torchkata.seam.assignment import Assignment
    from torchkata.seam.reply import make_reply  # imports torch

    assignment = Assignment(course().assignment)
    command = importlib.import_module(f"reference.{kata.name}.command")
    try:
        for line in command.run(assignment, texts_of_command(kata)):
            print(line, flush=True)
    except Exception as error:
        print(words("error", text=told(make_reply(error, assignment))), file=sys.stderr)
        return 1
    return 0


def told(reply: "Reply") -> str:
    """What the student's code raised, and where; in one line."""
    place = words("message.at", file=reply.file, line=reply.line) if reply.line else reply.file
    if reply.outcome == "not_written" and reply.line:
        return words("message.to_do", file=reply.file, line=reply.line)
    return f"{reply.error} ({place})" if place else reply.error

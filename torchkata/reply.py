"""Runs one probe beside the student's code and reports what came of it in plain values, never by an exception."""

import dis
import linecache
import traceback
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, Literal, TypeAlias

from .assignment import Assignment
from .values import Plain, plain

Probe: TypeAlias = Callable[..., object]  # takes the assignment, then plain values

MAX_TEXT = 600


@dataclass(frozen=True)
class Reply:
    """What a probe came to. Its texts are short, printable lines, whoever has made it."""

    outcome: Literal["returned", "not_written", "raised"]
    value: Plain = None
    error: str = ""  # "TypeError: …"
    file: str = ""  # the student's file that it happened in, "" if none
    line: int = 0
    source: str = ""  # that line

    def __post_init__(self) -> None:
        for name in ("error", "file", "source"):
            object.__setattr__(self, name, clean(getattr(self, name)))


def run_probe(assignment: Assignment, probe: Probe, args: Sequence[Plain]) -> Reply:
    """Call `probe(assignment, *args)`; whatever the student's code raises becomes a reply."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return Reply("returned", plain(probe(assignment, *args)))
    except (Exception, SystemExit, GeneratorExit) as error:
        return reply_to(error, assignment)


def reply_to(error: BaseException, assignment: Assignment) -> Reply:
    """Tell a kata that is not written yet from an error, and find the student's own line."""
    folder = assignment.folder
    own = [(frame, line) for frame, line in traceback.walk_tb(error.__traceback__) if in_folder(frame, folder)]
    if isinstance(error, SyntaxError) and error.filename and Path(error.filename).is_relative_to(folder):
        return Reply("raised", None, text_of(error), Path(error.filename).name, error.lineno or 0, error.text or "")
    if not own and isinstance(error, ModuleNotFoundError) and f"{error.name}".startswith(f"{assignment.package}."):
        return Reply("not_written", None, "there is no such file", f"{error.name}".rpartition(".")[2] + ".py")
    if not own:
        return Reply("raised", None, text_of(error))
    frame, line = own[-1]
    file = frame.f_code.co_filename
    written = not (type(error) is NotImplementedError and raises_here(error, frame))
    outcome: Literal["raised", "not_written"] = "raised" if written else "not_written"
    return Reply(outcome, None, text_of(error), Path(file).name, line, linecache.getline(file, line))


def in_folder(frame: FrameType, folder: Path) -> bool:
    """Whether this is code of the student's."""
    return Path(frame.f_code.co_filename).is_relative_to(folder)


def raises_here(error: BaseException, frame: FrameType) -> bool:
    """Whether `frame` itself has the `raise`: torch raises `NotImplementedError`, too, for what it lacks."""
    last = list(traceback.walk_tb(error.__traceback__))[-1][0]
    trace: Any = error.__traceback__
    while trace.tb_next is not None:
        trace = trace.tb_next
    return last is frame and frame.f_code.co_code[trace.tb_lasti] == dis.opmap["RAISE_VARARGS"]


def text_of(error: BaseException) -> str:
    """`TypeError: the message`, whatever `str(error)` does."""
    try:
        message = error.msg if isinstance(error, SyntaxError) else str(error)
    except Exception:
        message = "(its message can't be shown)"
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def clean(text: str) -> str:
    """One printable line of limited length."""
    return "".join(c if c.isprintable() else " " for c in str(text)[: 4 * MAX_TEXT]).strip()[:MAX_TEXT].rstrip()

"""Runs a probe in the process that runs student code. The result is a `Reply` of plain values, never an exception."""

import contextlib
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, TypeAlias

from torchkata.inside.source.differences import find_own_module, name_refused
from torchkata.inside.source.errors import find_call, is_newer, is_stub, lacks_state, parse, raises_here, suggest_name
from torchkata.inside.source.names import find_replaced
from torchkata.inside.source.text import PYTHON, read_line, read_lines
from torchkata.inside.text import Text

from .assignment import Assignment
from .process_limits import limit_recursion
from .values import Plain, to_plain

Probe: TypeAlias = Callable[..., object]  # the arguments are the assignment, then plain values

MAX_TEXT = 600
LACKS_STATE = " (in self.state[p])"
HIDDEN = Text("(its message cannot be shown)")
AT_IMPORT = " (when the file is imported)"
ESCAPE_CODES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")  # colors and bold letters in a library's message
ADVICE = re.compile(
    r"In PyTorch 2\.6, we changed.*?trusted source\.\s*", re.DOTALL
)  # of torch.load: weights_only=False
REFUSED = re.compile(r"((?:\w+\.)*\w+)\(\) (?:takes|got|missing) ")  # Python's message about wrong arguments


@dataclass(frozen=True)
class Reply:
    """The outcome of a probe. All texts are short, printable lines, even if they were sent by a malicious process."""

    outcome: Literal["returned", "not_written", "raised"]
    value: Plain = None
    error: str = ""  # such as "TypeError: …"
    file: str = ""  # the student's file that raised the exception, or "" if none did
    line: int = 0  # 0 if unknown
    source: str = ""  # the text of that line, or of the probe's line if `file` is empty
    setting: str = ""  # the function of torch with which an import of student code has changed a setting for all code
    said: Text | None = None  # the last part of `error`, if it is not from the student's code or a library

    def __post_init__(self) -> None:
        for name in ("error", "file", "source", "setting"):
            object.__setattr__(self, name, clean(getattr(self, name)))


def run_probe(assignment: Assignment, probe: Probe, args: Sequence[Plain]) -> Reply:
    """Call `probe(assignment, *args)` and return a reply with its result or with the student's exception."""
    try:
        with warnings.catch_warnings(), fill_memory(), limit_recursion(assignment.__files__):
            warnings.simplefilter("ignore")
            reply = Reply("returned", to_plain(probe(assignment, *args)))
    except (Exception, SystemExit, GeneratorExit) as error:
        reply = make_reply(error, assignment)
    return replace(reply, setting=assignment.__files__.setting)


def fill_memory() -> contextlib.AbstractContextManager[None]:
    """Fill uninitialized memory of torch, if it is imported, with the same values in every run."""
    if "torch" not in sys.modules:
        return contextlib.nullcontext()
    from torchkata.inside.torch_internals import fill_new_memory

    return fill_new_memory()


def make_reply(error: BaseException, assignment: Assignment) -> Reply:
    """Return the reply for an exception: `not_written` for an unchanged stub, otherwise the error and its line."""
    folder = assignment.__files__.folder
    trace = [*traceback.walk_tb(error.__traceback__)]
    files = {frame.f_code.co_filename for frame, _ in trace}  # endless recursion has thousands of frames
    files = {file for file in files if Path(file).is_relative_to(folder)}
    own = [(frame, line) for frame, line in trace if frame.f_code.co_filename in files]
    if isinstance(error, SyntaxError) and error.filename and Path(error.filename).is_relative_to(folder):
        version = PYTHON if error.text else ""  # there is no text if we have raised it ourselves
        text, file = format_error(error) + version, Path(error.filename).name
        return Reply("raised", None, text, file, error.lineno or 0, error.text or "", said=find_text(error))
    if not own:
        return make_reply_without_line(error, assignment)
    frame, line = own[-1]
    file, text = frame.f_code.co_filename, format_error(error)
    outcome: Literal["raised", "not_written"] = "raised"
    said = find_text(error)
    if type(error) is NotImplementedError and raises_here(error, frame):
        replaced = find_replaced(parse("".join(read_lines(file))), line)
        if replaced:
            said = Text("this stub replaces what line {line} defines under the same name: remove it", line=replaced)
            text = f"NotImplementedError: {said}"
        elif is_stub(file, line):
            outcome = "not_written"
        else:
            said = Text("the stub's `raise` is still in your function: remove it")
            text = f"NotImplementedError: {said}"
    elif isinstance(error, ImportError) and (
        advice := find_own_module(error, text, folder, assignment.__files__.package)
    ):
        said, text = advice, str(advice)
    elif type(error) is KeyError and lacks_state(error, frame, read_line(file, line)):
        text += LACKS_STATE
    elif isinstance(error, SystemExit) and any(frame.f_code.co_name == "<module>" for frame, _ in own):
        text += AT_IMPORT
    elif is_newer(error):
        text = text.replace(f" ({getattr(error, 'path', '')})", "") + PYTHON  # without the path of the library
    elif any(other.f_globals.get("__name__") == "pdb" for other, _ in trace):
        text = f"BdbQuit: {text}"  # nobody could type into it
    elif isinstance(error, (OSError, KeyError)):
        below = [other for other, _ in trace[trace.index(own[-1]) + 1 :]]
        name = name_refused(error, below, line, parse("".join(read_lines(file))))
        text += f" (in {name})" if name else ""
        if isinstance(error, OSError) and not name and (call := find_call(error, frame)):
            text += f"; raised by {call}()"
    else:
        text += suggest_name(error, frame)
    return Reply(outcome, None, text, Path(file).name, line, read_line(file, line), said=said)


def make_reply_without_line(error: BaseException, assignment: Assignment) -> Reply:
    """Return the reply for an exception outside of student code, such as a missing file or a wrong signature."""
    package = f"{assignment.__files__.package}."
    if isinstance(error, ModuleNotFoundError) and f"{error.name}".startswith(package):
        return Reply("not_written", None, "file not found", f"{error.name}".rpartition(".")[2] + ".py")
    if isinstance(error, AttributeError) and type(error.obj) is ModuleType and error.obj.__name__.startswith(package):
        file = error.obj.__name__.removeprefix(package) + ".py"
        said = Text("{file} does not define {name}", file=file, name=error.name)
        return Reply("raised", None, str(said), file, said=said)
    text = format_error(error)
    if isinstance(error, TypeError) and (code := find_refusing_code(text, assignment)) is not None:
        file, line = code.co_filename, code.co_firstlineno
        return Reply("raised", None, text, Path(file).name, line, read_line(file, line))
    return Reply("raised", None, text, source=find_probe_line(error), said=find_text(error))


def find_refusing_code(text: str, assignment: Assignment) -> Any:
    """Return the code object of the student's function named in a TypeError about wrong arguments, or None."""
    named = REFUSED.search(text)
    if named is None:
        return None
    for name, module in [*sys.modules.items()]:
        if name.startswith(f"{assignment.__files__.package}."):
            found: Any = module
            with contextlib.suppress(Exception):  # a student's `__getattr__` may raise anything
                for part in named[1].split("."):
                    found = getattr(found, part)
                if Path(found.__code__.co_filename).is_relative_to(assignment.__files__.folder):
                    return found.__code__
    return None


def find_probe_line(error: BaseException) -> str:
    """Return the innermost line in the traceback that belongs to a probe, or "" if there is no such line."""
    lines = [
        read_line(frame.f_code.co_filename, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if Path(frame.f_code.co_filename).parent.name == "probes"
    ]
    return lines[-1] if lines else ""


def find_text(error: BaseException) -> Text | None:
    """Return the `Text` with which a probe or our own code has raised an exception, or None for any other exception."""
    try:
        text = next(iter(error.args), str(error))
        if not isinstance(text, Text):
            return None
        return Text(text.english, **{name: str(value) for name, value in text.values.items()})
    except Exception:  # a student's exception may raise anything
        return HIDDEN


def format_error(error: BaseException) -> str:
    """Return `TypeError: the message`, even if `str(error)` raises."""
    try:
        message = error.msg if isinstance(error, SyntaxError) else str(error)
    except Exception:
        message = str(HIDDEN)
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def clean(text: str) -> str:
    """Return the text as a single printable line, truncated at a word boundary to at most `MAX_TEXT` characters."""
    plain = ADVICE.sub("", ESCAPE_CODES.sub("", str(text)[: 4 * MAX_TEXT]))
    line = "".join(c if c.isprintable() else " " for c in plain).strip()
    if len(line) <= MAX_TEXT:
        return line
    return (line[: MAX_TEXT - 1].rpartition(" ")[0] or line[: MAX_TEXT - 1]).rstrip() + "…"

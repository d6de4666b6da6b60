"""Defines `Student.call`, the only way for a test to run student code: it sends a probe and receives plain values.

A `Runner` executes the code, either in the same process (on a student's machine) or in a sandboxed worker (in the
grader).
"""

import ast
import inspect
import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any, Protocol

from torchkata.course import Limits, course
from torchkata.i18n import _, translate
from torchkata.inside import probes
from torchkata.inside.assignment import Assignment
from torchkata.inside.process_limits import record_threads, widen_stack
from torchkata.inside.reply import Probe, Reply, run_probe
from torchkata.inside.values import Plain, contains_tensor, find_unsupported, require_plain, to_plain
from torchkata.streams import LentStreams, count_printed

from .comparisons import begin_call
from .failures import NOWHERE, Crashed, Died, NotStarted, Place, TimedOut
from .time_limits import FOREVER, Times, allow, limit_time, measure_process, take_least

A_PROBE = (
    "a probe must be a module-level function in tests/probes/, because a worker imports it by name; "
    "move it there, and pass its data as further arguments of student.call"
)
MIN_CALL_SECONDS = 1.0  # minimum time limit of a call, so that a timer interrupts torch only if the call hangs


class Runner(Protocol):
    """Interface for running probes in the process that runs the student's code."""

    def reset(self, kata: str) -> None:
        """Discard the student's imported modules. This method is called before each test."""

    def start_over(self, kata: str) -> None:
        """Reset in the middle of a test. The time of all previous calls does not count."""

    def renew(self) -> None:
        """Replace the process that runs the student's code, if possible. The time limits do not change."""

    def run_probe(self, probe: Probe, args: Sequence[Plain]) -> Reply:
        """Run a probe and return its reply. Raises TimedOut, Died or Inconclusive if there is no reply."""

    def set_budget(self, seconds: float) -> None:
        """Limit the total time of all calls until the next `reset`."""


@dataclass(frozen=True)
class Call:
    """A call of a probe, with its arguments and its answer."""

    probe: Probe
    args: Sequence[Plain]
    answer: Plain = None
    setting: str = ""  # the function of torch with which an import of student code has changed a setting for all code
    printed: Sequence[slice] = (slice(None),) * 2  # where its text is in what was captured of the two output streams

    def arguments(self) -> dict[str, Plain]:
        """Return the arguments by parameter name. For `probes.call`, the names are those of the student's function."""
        if self.probe is probes.call:
            module, function, *arguments = self.args
            return dict(zip(get_parameter_names(module, function, len(arguments)), arguments, strict=True))
        names = list(inspect.signature(self.probe).parameters)[1:]
        return dict(zip(names, self.args, strict=False))

    def inputs(self) -> dict[str, Plain]:
        """Return the arguments that messages display.

        Arguments whose names start with an underscore are internal to the probe and are omitted.
        """
        return {name: value for name, value in self.arguments().items() if not name.startswith("_")}

    def own_inputs(self) -> dict[str, Plain]:
        """Return the arguments except for lists of tensors, which probes accept but the students' functions do not."""
        own = self.inputs().items()
        return {name: value for name, value in own if not (isinstance(value, list) and contains_tensor(value))}


def find_probe(probe: Probe | str, args: Sequence[Any]) -> tuple[Probe, Sequence[Any]]:
    """Return the probe and its arguments. A string such as `"sieve"` or `"sieve.count"` names a student's function."""
    if not isinstance(probe, str):
        return probe, args
    module, _, function = probe.partition(".")
    return probes.call, (module, function or module, *args)


def make_call(probe: Probe | str, args: Sequence[Any]) -> Call:
    """Return a call with copies of its arguments. Raises TypeError if one of them can't be passed to the probe."""
    found, given = find_probe(probe, args)
    call = Call(found, [to_plain(arg) for arg in given])
    for place, (arg, copy) in enumerate(zip(given, call.args, strict=True), start=1 + len(args) - len(given)):
        if find_unsupported(arg, copy):
            name = next((name for name, value in call.arguments().items() if value is copy), f"argument {place}")
            require_plain(arg, f"student.call: {name}")
    return call


def get_parameter_names(kata: str, function: str, count: int) -> list[str]:
    """Return `count` names for the arguments of a stub's function: those of its parameters, then numbered ones."""
    try:
        tree = ast.parse(course().stub(kata).read_bytes())
    except (OSError, SyntaxError, ValueError):
        tree = ast.Module([], [])
    found = [node.args for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == function]
    named = [argument.arg for args in found for argument in (*args.posonlyargs, *args.args)]
    return [*named, *(_("argument {place}", place=place + 1) for place in range(len(named), count))][:count]


def check_probe(probe: Probe) -> None:
    """Raise TypeError if a worker cannot import the probe by name."""
    if isinstance(probe, FunctionType) and is_importable(probe):
        return
    name, code = getattr(probe, "__qualname__", type(probe).__qualname__), getattr(probe, "__code__", None)
    place = f" ({Path(code.co_filename).name}, line {code.co_firstlineno})" if code else ""
    raise TypeError(f"{name}{place} is not a probe: {A_PROBE}")


@cache
def is_importable(function: FunctionType) -> bool:
    """Return whether a worker has the file of a function and can import the function by name."""
    file, tests = Path(function.__code__.co_filename), course().tests
    is_withheld = file.is_relative_to(tests) or file.is_relative_to(course().reference)
    found = getattr(sys.modules.get(function.__module__), function.__name__, None)
    return found is function and (not is_withheld or file.is_relative_to(tests / "probes"))


class Student:
    """The student's code, as seen by a test."""

    def __init__(self, runner: Runner) -> None:
        self.runner = runner
        self.last: Call | None = None
        self.memory: dict[str, Any] = {}  # what tests of this submission tell later ones; a replay does not change it
        self.fallbacks: frozenset[str] = frozenset()  # files that were replaced and are therefore not the student's

    def reset(self, kata: str) -> None:
        """Start a new test: discard the imported modules and the last call."""
        self.last = None
        self.runner.reset(kata)

    def start_over(self, kata: str) -> None:
        """Restart the current test as if it had not made any calls."""
        self.last = None
        self.runner.start_over(kata)

    def call(self, probe: Probe | str, *args: object) -> Any:
        """Run `probe(assignment, *args)` in the process that runs student code, and return the result as plain values.

        Args:
            probe: A function at the top level of a module in `tests/probes/`, or `call_methods`. A string calls the
                student's function: `"sieve"` calls `sieve` of the kata sieve, `"sieve.count"` its function `count`.
            *args: Plain values.

        Raises:
            TypeError: `probe` is not a probe, or an argument is not a plain value.
            NotStarted, Crashed, TimedOut, Died, Inconclusive: The call did not return a value. If the arguments are
                secret (see `typed`), the answer is None instead of the first, second and fourth of these.

        Example:
            y = student.call(probes.forward, weight, x)
        """
        call = make_call(probe, args)
        found = call.probe
        check_probe(found)
        self.last = call
        begin_call(f"{found.__module__}.{found.__qualname__}")
        if vars(found).get("isolated"):
            self.runner.renew()
        began = count_printed(1), count_printed(2)
        try:
            try:
                reply = self.runner.run_probe(found, self.last.args)
            finally:
                text = slice(began[0], count_printed(1)), slice(began[1], count_printed(2))
                self.last = replace(self.last, printed=text)
            self.last = replace(self.last, setting=reply.setting)
            answer = unwrap_reply(reply, self.fallbacks)
        except (Crashed, Died, NotStarted):
            if not is_secret(found):
                raise
            answer = None
        self.last = replace(self.last, answer=answer)
        return answer


def is_secret(probe: Probe) -> bool:
    """Return whether the arguments of a probe must not reach the student."""
    return bool(vars(probe).get("secret"))


def unwrap_reply(reply: Reply, fallbacks: Collection[str] = ()) -> Plain:
    """Return the value of a reply.

    Raises NotStarted if the stub is unchanged, or Crashed if the code raised an exception. The line is omitted if it is
    in a fallback.
    """
    if reply.outcome == "returned":
        return reply.value
    place = NOWHERE if reply.file in fallbacks else Place(reply.file, reply.line, reply.source)
    if reply.outcome == "not_written":
        raise NotStarted(place)
    raise Crashed(translate_error(reply), place)


def translate_error(reply: Reply) -> str:
    """Return the error of a reply. The part that our code has written is in the student's language."""
    known = reply.error.removesuffix(str(reply.said)) if reply.said else reply.error
    return known + translate(reply.said) if reply.said and known != reply.error else reply.error


class InProcess:
    """The runner used by the student's own pytest, which imports the code into the same process."""

    def __init__(self, folder: Path, limits: Limits) -> None:
        self.assignment = Assignment(folder)
        self.limits = limits
        self.left = FOREVER
        self.streams = LentStreams()

    def reset(self, kata: str) -> None:  # noqa: ARG002  (any kata can be requested)
        """Discard the imported modules, and remove the limit of the total time."""
        self.left = FOREVER
        self.renew()

    def renew(self) -> None:
        """Discard the modules, and reset torch's global settings and the streams in case earlier code changed them."""
        self.assignment.__files__.reset()
        self.streams.reset()
        if torch := sys.modules.get("torch"):
            torch.set_default_dtype(torch.float32)
            torch.set_default_device(None)
            torch.set_grad_enabled(True)

    def start_over(self, kata: str) -> None:
        """Reset the modules. There is no time to exclude, because only single calls have a time limit here."""
        self.reset(kata)

    def run_probe(self, probe: Probe, args: Sequence[Plain]) -> Reply:
        """Run the probe on copies of its arguments. The time limits apply only if the platform supports timers."""
        if self.left.shortest <= 0:
            raise TimedOut(_("no time left"))
        began, least = measure_process(), allow(MIN_CALL_SECONDS, self.limits)
        left = Times(max(self.left.cpu, least.cpu), max(self.left.wall, least.wall))
        allowed = take_least(allow(self.limits.call_seconds, self.limits), left)
        try:
            with (
                limit_time(allowed, self.assignment.__files__.folder),
                self.streams.lend(),
                record_threads(),
                widen_stack(),
            ):
                return run_probe(self.assignment, probe, [to_plain(arg) for arg in args])
        finally:
            self.left -= (measure_process() - began).leave_out_queue()

    def set_budget(self, seconds: float) -> None:
        """Limit the total time until the next `reset`.

        No new call is started once the time is used up, and a timer interrupts a slow last call.
        """
        self.left = allow(seconds, self.limits)

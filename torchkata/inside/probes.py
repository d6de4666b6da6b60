"""Probes that any course can use, for functions and for classes with state, and the decorator `typed`."""

import dis
import importlib
import inspect
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any, TypeAlias, TypeVar

from .source.text import read_line
from .values import to_plain

Code: TypeAlias = str | Callable[..., str]
RETURN = re.compile(r"\breturn[ (]+[^\s#]")  # a statement that returns the value of an expression
AnyProbe = TypeVar("AnyProbe", bound=Callable[..., object])


def typed(code: Code, *, isolated: bool = False, secret: bool = False) -> Callable[[AnyProbe], AnyProbe]:
    """Specify the code that a student would type to do the same as the decorated probe.

    Failure messages show this code as the input.

    Args:
        code: The code, or a function that returns it. In the message, it follows assignments of those arguments of the
            probe that it uses. The parameters of the function are names of the probe's arguments and, optionally,
            `literal`, a function that returns the code of a value.
        isolated: Whether to run each call in a new process, which no earlier call of the test has changed. On a
            student's machine, the call uses the same process, with newly imported modules.
        secret: Whether the arguments must stay secret. If the call fails, the answer is None, and neither the exception
            nor its line nor an exit code reaches a message, because the student's code could send secrets in them.

    Example:
        @typed("Linear(input_dim, output_dim).weight")
        def initial_weight(assignment, input_dim, output_dim): ...
    """

    def with_code(probe: AnyProbe) -> AnyProbe:
        vars(probe).update(typed=code, isolated=isolated, secret=secret)
        return probe

    return with_code


def call(assignment: Any, module: str, function: str, *arguments: object) -> object:
    """Call a function in a kata's module and return its result: `student.call("sieve", 10)`.

    Args:
        assignment: The student's modules.
        module: The name of the kata's file, without `.py`.
        function: The name of the function.
        *arguments: The function's arguments.
    """
    return getattr(getattr(assignment, module), function)(*arguments)


def call_with_zeroed_memory(assignment: Any, module: str, probe: str, *arguments: object) -> object:
    """Call another probe with uninitialized memory filled with zeros instead of the usual NaN."""
    from torchkata.inside.torch_internals import ZeroedMemory

    with ZeroedMemory():
        return getattr(importlib.import_module(module), probe)(assignment, *arguments)


def list_empty_returns(assignment: Any, module: str, probe: str, *arguments: object) -> list[str]:
    """Call another probe, and return the names (`kata.function`) of the student's functions that returned nothing.

    A line such as `return table.get(name)` returns something, even if it is None.
    """
    found: dict[str, None] = {}
    files = {*map(str, assignment.__files__.folder.glob("*.py"))}

    def follow(frame: FrameType, _event: str, _value: object) -> Callable[[FrameType, str, object], None] | None:
        code, frame.f_trace_lines = frame.f_code, False
        return watch if code.co_filename in files and not code.co_flags & inspect.CO_GENERATOR else None

    def watch(frame: FrameType, event: str, value: object) -> None:
        if event != "return" or value is not None:
            return
        code = frame.f_code
        has_raised = not dis.opname[code.co_code[frame.f_lasti]].startswith("RETURN")
        says_what = RETURN.search(read_line(code.co_filename, frame.f_lineno))
        if not has_raised and not says_what:
            found.setdefault(f"{Path(code.co_filename).stem}.{code.co_qualname}")

    before = sys.gettrace()
    sys.settrace(follow)
    try:
        with suppress(Exception):
            getattr(importlib.import_module(module), probe)(assignment, *arguments)
    finally:
        sys.settrace(before)
    return [*found]


def render_methods(
    name: str, arguments: Sequence[object], calls: Sequence[Sequence[Any]], literal: Callable[[object], str]
) -> str:
    """Return the code that builds an object and calls its methods."""

    def render(function: str, given: Sequence[object]) -> str:
        return f"{function}({', '.join(map(literal, given))})"

    type_name = name.rpartition(".")[2]
    variable = type_name.lower()
    first = f"{variable} = {render(type_name, arguments)}"
    return "\n".join([first, *(render(f"{variable}.{method}", given) for method, *given in calls)])


@typed(render_methods)
def call_methods(
    assignment: Any, name: str, arguments: Sequence[object], calls: Sequence[Sequence[Any]]
) -> list[object]:
    """Build an object of a student's class, call its methods in order, and return all answers.

    Args:
        assignment: The student's modules.
        name: The kata and its class, such as `"ring.Ring"`.
        arguments: The arguments that build the object.
        calls: For each call, the name of the method, followed by its arguments.

    Example:
        student.call(call_methods, "ring.Ring", [2], [["push", 1], ["items"]])
    """
    module, _, type_name = name.partition(".")
    built = getattr(getattr(assignment, module), type_name)(*arguments)
    # An answer is copied at once, because a later call may change the object that was returned.
    return [to_plain(getattr(built, method)(*given)) for method, *given in calls]

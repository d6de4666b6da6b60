"""Generic probes, which any course can use, and the decorator `typed`."""

import importlib
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

Code: TypeAlias = str | Callable[..., str]
AnyProbe = TypeVar("AnyProbe", bound=Callable[..., object])


def typed(code: Code) -> Callable[[AnyProbe], AnyProbe]:
    """Specify the code that a student would type instead of calling the decorated probe.

    Failure messages show this code as the input.

    Args:
        code: The code, or a function that returns it. In the message, the code is preceded by assignments of those
            arguments of the probe that it uses. The parameters of the function are names of the probe's arguments and,
            optionally, `literal`, a function that returns the code of a value.

    Example:
        @typed("Linear(input_dim, output_dim).weight")
        def initial_weight(assignment, input_dim, output_dim): ...
    """

    def with_code(probe: AnyProbe) -> AnyProbe:
        vars(probe)["typed"] = code
        return probe

    return with_code


def call(assignment: Any, module: str, function: str, *arguments: object) -> object:
    """Call a function in a kata's module and return its result.

    This is the probe for katas that consist of plain functions.

    Args:
        assignment: The student's modules.
        module: The name of the kata's file, without `.py`.
        function: The name of the function.
        *arguments: The function's arguments.

    Example:
        numbers = student.call(call, "sieve", "sieve", 10)
    """
    return getattr(getattr(assignment, module), function)(*arguments)


def call_with_zeroed_memory(assignment: Any, module: str, probe: str, *arguments: object) -> object:
    """Call another probe, and fill uninitialized memory with zeros instead of the usual NaN."""
    from torchkata.compat.torch_internals import ZeroedMemory

    with ZeroedMemory():
        return getattr(importlib.import_module(module), probe)(assignment, *arguments)

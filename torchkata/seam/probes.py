"""The probe `call`, which any course can use, and the decorator `typed`."""

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

Code: TypeAlias = str | Callable[..., str]
AnyProbe = TypeVar("AnyProbe", bound=Callable[..., object])


def typed(code: Code) -> Callable[[AnyProbe], AnyProbe]:
    """Decorate a probe with the code that a student would type in its place. A failure shows this code as its input.

    Args:
        code: The code. The failure first assigns the probe's arguments that the code uses. `code` can also be a
            function that returns the code. Its parameters are names of the probe's arguments and `literal`, a function
            that returns a value's code.

    Example:
        @typed("Linear(input_dim, output_dim).weight")
        def initial_weight(assignment, input_dim, output_dim): ...
    """

    def with_code(probe: AnyProbe) -> AnyProbe:
        vars(probe)["typed"] = code
        return probe

    return with_code


def call(assignment: Any, module: str, function: str, *arguments: object) -> object:
    """Call a function of a kata's module and return its result: the probe for katas that are plain functions.

    Args:
        assignment: The student's modules.
        module: The name of the kata's file, without `.py`.
        function: The name of the function.
        *arguments: The function's arguments.

    Example:
        numbers = student.call(call, "sieve", "sieve", 10)
    """
    return getattr(getattr(assignment, module), function)(*arguments)

"""Probes that any course can use, and how a probe says what a student would type in its place.

A kata that is a plain function needs no module of its own in `tests/probes/`:

    from torchkata.seam.probes import call

    numbers = student.call(call, "sieve", "sieve", n)  # what sieve(n) of assignment/sieve.py returns
"""

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

Code: TypeAlias = str | Callable[..., str]
AnyProbe = TypeVar("AnyProbe", bound=Callable[..., object])


def typed(code: Code) -> Callable[[AnyProbe], AnyProbe]:
    """Decorates a probe with what a student would type in its place, for the message of a failure.

    Whatever of the probe's arguments this code uses is assigned before it. A function takes some of these arguments, by
    name, and `literal`, which writes any value, and gives the code that is right for them.
    """

    def with_code(probe: AnyProbe) -> AnyProbe:
        vars(probe)["typed"] = code
        return probe

    return with_code


def call(assignment: Any, module: str, function: str, *arguments: object) -> object:
    """What `function` of the kata's file returns for these arguments."""
    return getattr(getattr(assignment, module), function)(*arguments)

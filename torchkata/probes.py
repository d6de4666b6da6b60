"""Probes that any course can use.

A kata that is a plain function needs no module of its own in `tests/probes/`:

    from torchkata.probes import call

    numbers = student.call(call, "sieve", "sieve", n)  # what sieve(n) of assignment/sieve.py returns
"""

from typing import Any


def call(assignment: Any, module: str, function: str, *arguments: object) -> object:
    """What `function` of the kata's file returns for these arguments."""
    return getattr(getattr(assignment, module), function)(*arguments)

"""Probe for functions that must not modify their inputs."""

from typing import Any

from torchkata import typed


@typed(lambda function: f"{function.partition('.')[2]}(*arguments)\narguments")
def arguments_after(assignment: Any, function: str, arguments: list[Any]) -> list[Any]:
    """Call a function, such as `"puzzles.outer"`, and return its arguments."""
    kata, _, name = function.partition(".")
    getattr(getattr(assignment, kata), name)(*arguments)
    return arguments

"""Probes for transformer_accounting, which build the student's Config from its fields."""

from typing import Any

from torchkata import typed


def format_call(function: str, fields: dict[str, Any], arguments: list[Any]) -> str:
    """Return the source code of the call."""
    config = ", ".join(f"{name}={value}" for name, value in fields.items())
    return f"config = Config({config})\n{function}({', '.join(map(str, ['config', *arguments]))})"


@typed(format_call)
def call(assignment: Any, function: str, fields: dict[str, Any], arguments: list[Any]) -> object:
    """Call a function with a Config and further arguments."""
    kata = assignment.transformer_accounting
    return getattr(kata, function)(kata.Config(**fields), *arguments)

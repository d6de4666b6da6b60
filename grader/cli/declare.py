"""Makes commands for typer from functions and dataclasses whose annotations declare options."""

import inspect
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import Annotated, Any, NoReturn, get_args, get_origin, get_type_hints

import typer

from grader.base.main import run_command
from grader.options import Argument, Option

LINE_BREAK = re.compile(r"(?<!\n)\n(?!\n)")  # within a paragraph, which the terminal wraps


def declare(command: Callable[..., Any]) -> Callable[..., None]:
    """Return a function for typer that imports and runs a command, and exits with its exit code.

    A parameter that is a dataclass stands for all its fields. A command of type NoReturn runs itself and exits.
    """
    hints: dict[str, Any] = get_type_hints(command)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}

    def run(**given: Any) -> None:
        values = {name: tuple(each) if isinstance(each, list) else each for name, each in given.items()}
        values = {name: each for name, each in values.items() if each is not None}
        for name, kind in groups.items():
            taken = {field.name: values.pop(field.name) for field in fields(kind) if field.name in values}
            values[name] = kind(**taken)
        if hints["return"] is NoReturn:
            command(**values)
        sys.exit(run_command(lambda: command(**values)))

    run.__name__ = command.__name__
    run.__doc__ = LINE_BREAK.sub(" ", inspect.cleandoc(command.__doc__ or ""))
    declared = [parameter for source in (command, *groups.values()) for parameter in list_parameters(source)]
    vars(run)["__signature__"] = inspect.Signature(declared)
    return run


def list_parameters(source: Callable[..., object]) -> Iterator[inspect.Parameter]:
    """Yield a parameter in the form that typer expects for each declared option of a function or dataclass."""
    hints = get_type_hints(source, include_extras=True)
    for name, parameter in inspect.signature(source).parameters.items():
        kind, *notes = get_args(hints[name]) if get_origin(hints[name]) is Annotated else (hints[name],)
        for option in notes:
            if isinstance(option, Option):
                yield make_parameter(parameter, kind, option)


def make_parameter(parameter: inspect.Parameter, kind: Any, option: Option) -> inspect.Parameter:
    """Return the parameter for typer. It is None if an option without a fixed default is not given."""
    name, default = parameter.name, parameter.default
    settings: dict[str, Any] = {"help": option.help, "metavar": option.metavar, "min": option.least}
    if get_origin(kind) is tuple:
        kind = list[get_args(kind)[0]]  # type: ignore[misc]
        settings["readable"] = False  # an unreadable file is reported by the command
    if default == () or option.otherwise:
        kind, default = kind | None, None
        settings["show_default"] = option.otherwise or True
    flag = option.flag or f"--{name.replace('_', '-')}"
    made = typer.Argument(**settings) if isinstance(option, Argument) else typer.Option(flag, **settings)
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, made])

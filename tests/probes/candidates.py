"""Runs a student's `check` on programs that are given as text."""

import inspect
import random
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import torch

from torchkata import typed


def write_call(kata: str, name: str, source: str) -> str:
    """Return code that defines a program and calls `check` with it. `own` contains the student's modules."""
    own = f"import assignment.{kata.removeprefix('break_')}\nown = assignment"
    return f"{own}\n{source.strip()}\ncheck({name})" if source else "check(None)"


@typed(write_call, isolated=True)
def judge(assignment: Any, kata: str, name: str, source: str, seed: int) -> dict[str, str]:
    """Call a kata's `check` on the class or function with this name in the source, and return the verdict.

    If the source is "", `check` is called with None. It then counts as not started if it is an unchanged stub.
    """
    return call_check(getattr(assignment, kata).check, getattr(load(assignment, source), name, None), seed)


@typed("check(candidate)", isolated=True, secret=True)
def judge_hidden(assignment: Any, kata: str, name: str, source: str, seed: int) -> str:
    """Return only the verdict about a hidden program."""
    return judge(assignment, kata, name, source, seed)["verdict"]


def load(assignment: Any, source: str) -> ModuleType:
    """Return a new module with this source, in which `own` contains the student's modules."""
    module = ModuleType("candidate")
    vars(module)["own"] = assignment
    exec(compile(source, "<candidate>", "exec"), vars(module))
    return module


def call_check(check: Callable[[Any], object], candidate: object, seed: int) -> dict[str, str]:
    """Return "accepted", "rejected" or "error", and the text of the exception.

    Exceptions raised by a stub, by Ctrl-C or by a time limit are propagated.
    """
    random.seed(seed)
    np.random.seed(seed)
    torch.default_generator.manual_seed(seed)
    try:
        check(candidate)
    except BaseException as error:
        is_stub = type(error) is NotImplementedError and not error.args
        if is_stub or isinstance(error, KeyboardInterrupt) or type(error).__module__.startswith("torchkata."):
            raise
        verdict = "rejected" if contains_only_assertions(error) else "error"
        return {"verdict": verdict, "text": f"{type(error).__name__}: {error}{find_place(check, error)}"}
    return {"verdict": "accepted", "text": ""}


def find_place(check: Callable[[Any], object], error: BaseException) -> str:
    """Return the file and line of the student's code at which the error was raised, or "" if they are unknown."""
    file = inspect.getsourcefile(check)
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return f" ({Path(file).name}:{lines[-1]})" if file and lines else ""


def contains_only_assertions(error: BaseException) -> bool:
    """Return whether the error is an AssertionError or a group of them, as Hypothesis raises for several failures."""
    if isinstance(error, BaseExceptionGroup):
        return error.split(AssertionError)[1] is None
    return isinstance(error, AssertionError)

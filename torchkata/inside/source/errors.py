"""Finds what an exception does not say: the function that was called, a missing import, a misspelled name, a stub."""

import ast
import builtins
import contextlib
import difflib
import dis
import re
import sys
from functools import lru_cache
from types import FrameType, ModuleType
from typing import Any

from .names import computes_nothing
from .text import read_line, read_lines

ATTRIBUTE = re.compile(r"^'(\w+)' object has no attribute '(\w+)'")
IMPORTS = {"np": "import numpy as np", "nn": "from torch import nn", "Tensor": "from torch import Tensor"}


def lacks_state(error: KeyError, frame: FrameType, source: str) -> bool:
    """Return whether the key is missing from a local variable that holds an optimizer's `self.state[p]`."""
    names = frame.f_locals
    with contextlib.suppress(Exception):  # a student's objects may raise anything
        states = [state for state in names["self"].state.values() if error.args[0] not in state]
        looked_up = [value for name, value in names.items() if re.search(rf"\b{name}\[", source)]
        return any(value is state for value in looked_up for state in states)
    return False


def is_stub(file: str, line: int) -> bool:
    """Return whether the function at this line is an unchanged stub, that is, computes nothing."""
    return is_stub_in("".join(read_lines(file)), line)


@lru_cache(maxsize=64)  # most tests of an untouched file end at the same line
def is_stub_in(source: str, line: int) -> bool:
    """Return whether the function at a line of this source code is an unchanged stub."""
    found = [node for node in ast.walk(parse(source)) if isinstance(node, ast.FunctionDef)]
    functions = [node for node in found if node.lineno <= line <= (node.end_lineno or 0)]
    return bool(functions) and all(map(computes_nothing, max(functions, key=lambda node: node.lineno).body))


@lru_cache(maxsize=1)
def parse(source: str) -> ast.Module:
    """Return the syntax tree of this source code, or an empty one if it cannot be parsed."""
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return ast.Module([], [])


def find_call(error: BaseException, frame: FrameType) -> str:
    """Return the name of the function that a line of a frame was calling, or "" if the line does not show it."""
    trace: Any = error.__traceback__
    while trace is not None and trace.tb_frame is not frame:
        trace = trace.tb_next
    positions = [*frame.f_code.co_positions()] if trace is not None else []
    first, last, start, end = positions[trace.tb_lasti // 2] if positions else (None, None, None, None)
    if not first or first != last:
        return ""
    code = read_line(frame.f_code.co_filename, first).encode()[start:end].decode("utf-8", "replace")
    for node in parse(code).body:
        match node:
            case ast.Expr(ast.Call(func=ast.Attribute(value=ast.Call(), attr=method))):
                return method
            case ast.Expr(ast.Call(func=called)):
                return ast.unparse(called)
    return ""


def suggest_name(error: BaseException, frame: FrameType) -> str:
    """Return what a misspelled or missing name may be meant to be, as Python itself does in a traceback, or ""."""
    names = frame.f_locals
    with contextlib.suppress(Exception):  # a student's objects may raise anything
        if type(error) is NameError and error.name:
            if error.name in IMPORTS or error.name in (*sys.stdlib_module_names, *sys.modules):
                return f"; is `{IMPORTS.get(error.name, f'import {error.name}')}` missing?"
            if hasattr(names.get("self"), error.name):
                return f"; did you mean self.{error.name}?"
            name, known = error.name, [*names, *frame.f_globals, *dir(builtins)]
        elif isinstance(error, AttributeError) and (found := ATTRIBUTE.search(str(error))):
            owners = [one for one in (error.obj, names.get("self")) if type(one).__name__ == found[1]]
            name, known = found[2], dir(owners[0]) if owners and owners[0] is not None else []
        else:
            return ""
        near = difflib.get_close_matches(name, known, n=1)
        return f"; did you mean {near[0]}?" if near else ""
    return ""


def is_newer(error: BaseException) -> bool:
    """Return whether Python's standard library lacks a name, perhaps because the code needs a newer Python."""
    module = ""
    if isinstance(error, ImportError) and not isinstance(error, ModuleNotFoundError):
        module = error.name or ""
    elif isinstance(error, AttributeError) and type(error.obj) is ModuleType:
        module = error.obj.__name__
    return module.partition(".")[0] in sys.stdlib_module_names


def raises_here(error: BaseException, frame: FrameType) -> bool:
    """Return whether `frame` itself raised the exception, and not a function that it called, such as one of torch."""
    trace: Any = error.__traceback__
    while trace.tb_next is not None:
        trace = trace.tb_next
    return trace.tb_frame is frame and frame.f_code.co_code[trace.tb_lasti] == dis.opmap["RAISE_VARARGS"]

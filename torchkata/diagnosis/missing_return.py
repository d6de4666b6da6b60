"""Finds out whether a student's function returned nothing although its stub promises a value."""

import ast

from torchkata.course import course
from torchkata.course.handout import stub_of
from torchkata.inside.probes import list_empty_returns
from torchkata.seam.student import Call, Student


def find_missing_return(call: Call, student: Student) -> str:
    """Return the name of the first function that returned None during a call although it should not, or ""."""
    names = student.call(list_empty_returns, call.probe.__module__, call.probe.__qualname__, *call.args)
    return next((name.rpartition(".")[2] for name in map(str, names) if promises_value(*name.split(".", 1))), "")


def promises_value(kata: str, function: str) -> bool:
    """Return whether the stub of a kata annotates a function or method with a result that cannot be None."""
    if kata not in course().katas:
        return False
    original = course().root / stub_of(kata)
    node: ast.AST | None = ast.parse((original if original.is_file() else course().stub(kata)).read_bytes())
    for name in function.split("."):
        inner = getattr(node, "body", [])
        node = next((each for each in inner if getattr(each, "name", "") == name), None)
    result = node.returns if isinstance(node, ast.FunctionDef) else None
    return result is not None and "None" not in ast.unparse(result)

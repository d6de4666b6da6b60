"""A stub has what its solution has, but for what is to be written."""

import ast
import re

import pytest

from grader.commands.release.contract import differences, written_already
from torchkata.course import course


@pytest.mark.parametrize("kata", course().katas)
def test_stub_and_solution_have_the_same_public_names_signatures_and_docstrings(kata: str) -> None:
    stub, solution = (path.read_text("utf-8") for path in (course().stub(kata), course().solution(kata)))
    assert differences(stub, solution) == []
    assert written_already(stub) == []


@pytest.mark.parametrize("kata", course().katas)
def test_a_stub_imports_the_modules_that_its_text_names(kata: str) -> None:
    stub = course().stub(kata).read_text("utf-8")
    imports = [node for node in ast.walk(ast.parse(stub)) if isinstance(node, (ast.Import, ast.ImportFrom))]
    imported = {alias.asname or alias.name for node in imports for alias in node.names}
    assert {*re.findall(r"(?<![\w.])(torch|nn|np|os|math|random)\.\w", stub)} <= imported


STUB = '''
class A(Base):
    """An A."""

    def __init__(self, n: int) -> None:
        raise NotImplementedError

    def double(self, x: int = 1) -> int:
        """Twice."""
        raise NotImplementedError
'''


@pytest.mark.parametrize(
    ("old", "new", "difference"),
    [
        ("n: int", "m: int", "A.__init__: the stub has (self, n: int) -> None, the solution (self, m: int) -> None"),
        ("x: int = 1", "x: int = 2", "A.double: the stub has (self, x: int=1) -> int, the solution (self, x: int=2)"),
        ("-> int", "-> float", "A.double: the stub has (self, x: int=1) -> int"),
        ("(Base)", "(Other)", "A: the stub has class (Base), the solution class (Other)"),
        ("double", "triple", "A.double is in the stub, not in the solution"),
        ('"""Twice."""', "", "A.double has no docstring in the solution"),
        ('"""An A."""', "", "A has no docstring in the solution"),
        ("    def double", "    @property\n    def double", "A.double: the stub has (self"),
    ],
)
def test_a_difference_between_stub_and_solution_is_named(old: str, new: str, difference: str) -> None:
    assert any(found.startswith(difference) for found in differences(STUB, STUB.replace(old, new)))


def test_private_names_and_bodies_of_stub_and_solution_may_differ() -> None:
    assert differences(STUB, STUB.replace("raise NotImplementedError", "return 2") + "\ndef own(): ...\n") == []


def test_a_stub_must_say_which_code_it_gives() -> None:
    written = STUB.replace("raise NotImplementedError", "self.n = n", 1)
    assert written_already(STUB) == []
    assert written_already(written) == ["__init__"]
    assert written_already(written.replace("An A.", "An A. This much is given.")) == []

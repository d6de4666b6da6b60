"""A stub has what its solution has, but for what is to be written."""

import pytest

from grader.commands.release.contract import find_differences, find_written

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
        ("double", "triple", "A.double is in the stub, but not in the solution"),
        ('"""Twice."""', "", "A.double has no docstring in the solution"),
        ('"""An A."""', "", "A has no docstring in the solution"),
        ("    def double", "    @property\n    def double", "A.double: the stub has (self"),
    ],
)
def test_a_difference_between_stub_and_solution_is_named(old: str, new: str, difference: str) -> None:
    assert any(found.startswith(difference) for found in find_differences(STUB, STUB.replace(old, new)))


def test_private_names_and_bodies_of_stub_and_solution_may_differ() -> None:
    assert find_differences(STUB, STUB.replace("raise NotImplementedError", "return 2") + "\ndef own(): ...\n") == []


def test_a_stub_must_say_which_code_it_gives() -> None:
    written = STUB.replace("raise NotImplementedError", "self.n = n", 1)
    assert find_written(STUB) == []
    assert find_written(written) == ["__init__"]
    assert find_written(written.replace("An A.", "An A. This much is given.")) == []

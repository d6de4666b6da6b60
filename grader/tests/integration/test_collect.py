"""Tests are collected for grading only where each asks the student."""

import re

from grader.tests.conftest import python

ONE_ASKS_NOBODY = """
from grader import collect
from grader.rubric import Timed
from kata.explain import Ending
collect.run = lambda item: Timed(Ending("passed"), 0.0)
collect.with_tests(lambda tests: print("accepted"), examples=1, profile="grade")
"""


def test_a_test_that_asks_nobody_is_refused() -> None:
    done = python("-c", ONE_ASKS_NOBODY)
    assert "accepted" not in done.out
    assert re.search("RuntimeError: .*test_same_storage.* does not ask the student", done.err)

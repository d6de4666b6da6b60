"""A test that ends without a call of the student's code proves nothing, and its points are nobody's."""

from grader.tests.conftest import python

ONE_ASKS_NOBODY = """
from types import SimpleNamespace
from grader.pipeline import collect
from torchkata.course import course
from torchkata.pytest_plugin.run_state import get_state
from torchkata.seam.student import Student

def use(tests):
    get_state(tests.config).seed = 0
    get_state(tests.config).student = Student(SimpleNamespace(reset=lambda kata: None))
    item = next(iter(tests.items["same_storage"].values()))
    item.obj = lambda student: None
    result = collect.run(item)
    print(result.outcome, result.message)

collect.with_tests(use, examples=1, profile="grade", katas=[course().katas["same_storage"]])
"""


def test_a_test_that_never_calls_the_students_code_is_inconclusive() -> None:
    done = python("-c", ONE_ASKS_NOBODY)
    assert done.out.startswith("inconclusive this test ends without a call of your code"), done.err

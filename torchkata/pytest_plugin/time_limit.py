"""pytest plugin: ends a test that computes for too long beside the student's code, as with an oracle that never ends.

The seconds are those of the processor, and the student's own calls do not count: other limits are for them.
"""

from collections.abc import Generator

import pytest

from torchkata.compat.hypothesis_internals import get_settings
from torchkata.course import course
from torchkata.seam.failures import Endless
from torchkata.seam.student import limit_processor_time

from .selection import find_kata

EXAMPLES = 100  # inputs of a test, for which `test_seconds` is meant


@pytest.hookimpl(wrapper=True, trylast=True)  # within the search for what a failure looks like, which has its own limit
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Limit the time of a kata's test."""
    if find_kata(pyfuncitem.path) is None:
        return (yield)
    is_property = hasattr(pyfuncitem.obj, "hypothesis")
    examples = get_settings(pyfuncitem.obj).max_examples if is_property else EXAMPLES
    seconds = course().limits.test_seconds * max(1.0, examples / EXAMPLES)
    with limit_processor_time(seconds, Endless(seconds)):
        return (yield)

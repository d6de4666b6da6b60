"""pytest plugin: ends a test that runs for too long, for example because an oracle does not terminate.

The limit applies to CPU time outside calls of the student's code, which have their own limits.
"""

from collections.abc import Generator

import pytest

from torchkata.compat.hypothesis_internals import get_settings
from torchkata.course import course
from torchkata.seam.failures import Endless
from torchkata.seam.student import limit_processor_time

from .selection import find_kata

EXAMPLES = 100  # the number of inputs for which `test_seconds` is the limit


@pytest.hookimpl(wrapper=True, trylast=True)  # within the search for mistakes, which has its own time limit
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Limit the CPU time of a kata's test."""
    if find_kata(pyfuncitem.path) is None:
        return (yield)
    is_property = hasattr(pyfuncitem.obj, "hypothesis")
    examples = get_settings(pyfuncitem.obj).max_examples if is_property else EXAMPLES
    seconds = course().limits.test_seconds * max(1.0, examples / EXAMPLES)
    with limit_processor_time(seconds, Endless(seconds)):
        return (yield)

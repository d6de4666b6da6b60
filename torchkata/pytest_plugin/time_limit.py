"""pytest plugin that ends tests that take too long, for example because an oracle does not terminate.

The limit applies to CPU time outside of the student's code, which has separate limits.
"""

from collections.abc import Generator

import pytest

from torchkata.course import course
from torchkata.inside.hypothesis_internals import get_settings
from torchkata.seam.failures import Endless
from torchkata.seam.time_limits import limit_processor_time

from .selection import find_kata

EXAMPLES = 100  # number of inputs to which the limit `test_seconds` applies


@pytest.hookimpl(wrapper=True, trylast=True)  # inside the search for mistakes, which has its own time limit
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Limit the CPU time of a test of a kata."""
    if find_kata(pyfuncitem.path) is None:
        return (yield)
    is_property = hasattr(pyfuncitem.obj, "hypothesis")
    examples = get_settings(pyfuncitem.obj).max_examples if is_property else EXAMPLES
    seconds = course().limits.test_seconds * max(1.0, examples / EXAMPLES)
    with limit_processor_time(seconds, Endless(seconds)):
        return (yield)

"""pytest plugin: ends a test that computes for too long beside the student's code, as with an oracle that never ends.

The seconds are those of the processor, and the student's own calls do not count: other limits are for them.
"""

import signal
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from types import FrameType

import pytest

from torchkata.compat.hypothesis_internals import settings_of
from torchkata.course import course
from torchkata.seam.failures import Endless

from .selection import kata_of

EXAMPLES = 100  # inputs of a test, for which `test_seconds` is meant


@pytest.hookimpl(wrapper=True, trylast=True)  # within the search for what a failure looks like, which has its own limit
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Limit the time of a kata's test."""
    if kata_of(pyfuncitem.path) is None:
        return (yield)
    is_property = hasattr(pyfuncitem.obj, "hypothesis")
    examples = settings_of(pyfuncitem.obj).max_examples if is_property else EXAMPLES
    with limited(course().limits.test_seconds * max(1.0, examples / EXAMPLES)):
        return (yield)


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise Endless in what computes longer, where the platform has such an alarm, and on the main thread alone."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise Endless(seconds)

    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGVTALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)

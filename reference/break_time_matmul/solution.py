"""Tests for time_matmul."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

LOW, HIGH, WITH_A_SLOW_ONE = 0.94, 1.15, 5.0  # bounds of right results, as multiples of the time of a matmul


def check(run: Callable[..., SimpleNamespace]) -> None:
    """Run all tests. If time_matmul raises an unexpected exception, convert it to an AssertionError."""
    try:
        check_all(run)
    except AssertionError:
        raise
    except Exception as error:
        raise AssertionError(f"time_matmul raises {type(error).__name__}: {error}") from error


def check_all(run: Any) -> None:
    """Run the function on several machines, each with one unusual property."""
    for seconds in (0.01, 0.5):
        for gpu in (False, True):
            assert_result(run(seconds, gpu=gpu), seconds)
            assert_result(run(seconds, gpu=gpu, first=1000 * seconds), seconds)
        assert_result(run(seconds, gpu=True, busy=1000 * seconds), seconds)
        assert_result(run(seconds, clock_set=True), seconds)
        for slow in range(7):
            assert_result(run(seconds, slow=slow), seconds, WITH_A_SLOW_ONE)


def assert_result(happened: SimpleNamespace, seconds: float, high: float = HIGH) -> None:
    """Assert that the result is the time of one matmul, and that enough matmuls were computed."""
    assert type(happened.seconds) is float, "not a float"
    assert LOW * seconds <= happened.seconds <= high * seconds, "wrong time"
    assert happened.timed >= 3, "fewer than three matmuls are timed"
    assert happened.matmuls > 3, "no warm-up"
    assert not happened.modified, "a matrix is modified"

"""Tests of deciding, without a reference solution, whether an exception is caused by the test itself."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from torchkata.compare.assertions import assert_close, assert_equal, check, require
from torchkata.compare.numbers import assert_count, assert_number
from torchkata.diagnosis.broken_tests import find_broken_test
from torchkata.diagnosis.recording import RecordedBody
from torchkata.inside.values import AnswerRead, Unread
from torchkata.seam.comparisons import begin_call, begin_test, is_last_call_compared
from torchkata.seam.failures import BrokenTest
from torchkata.seam.student import Call


def decide(body: Callable[..., None]) -> BrokenTest | None:
    """Run a test body with n = 2 and a student whose code returns 4. Return the decision on the exception it raises."""
    student: Any = SimpleNamespace(call=lambda *_: 4, memory={})
    recorded = RecordedBody(body)
    with pytest.raises((ArithmeticError, ValueError)) as raised:
        recorded(student=student, n=2)
    return find_broken_test(raised.value, recorded, Call(lambda: None, []))


def test_comparisons_accept_placeholder_for_an_answer() -> None:
    assert_equal(Unread(), [2])
    assert_close(Unread(), np.zeros(2), scale=1.0)
    with pytest.raises(ValueError, match="could not convert"):
        assert_close(Unread(), "seven", scale=1.0)


@pytest.mark.parametrize(
    "read", [lambda x: x + 1, lambda x: x == 1, lambda x: x[0], lambda x: x.shape, len, bool, list, str, float]
)
def test_placeholder_for_answer_raises_when_read(read: Callable[[object], object]) -> None:
    with pytest.raises(AnswerRead):
        read(Unread())


def test_error_for_every_answer_indicates_broken_test() -> None:
    def body(student: Any, n: int) -> None:
        assert_equal(student.call(None, n), n // 0)

    broken = decide(body)
    assert broken is not None
    assert broken.error.startswith("ZeroDivisionError")
    assert broken.given == "n = 2"


def test_error_on_another_line_indicates_wrong_answer() -> None:
    def body(student: Any, n: int) -> None:
        answer = student.call(None, n)
        if isinstance(answer, int):
            raise ValueError(n)
        raise ValueError(-n)

    assert decide(body) is None


def test_each_assertion_counts_as_a_comparison() -> None:
    assertions: tuple[Callable[[], None], ...] = (
        lambda: assert_equal(1, 1),
        lambda: assert_close(np.ones(1), np.ones(1), dtype=np.float64, scale=1.0),
        lambda: check(True),
        lambda: require(True),
        lambda: assert_number(1.0, 1.0),
        lambda: assert_count(1, 1),
    )
    for compare in assertions:
        begin_test()
        begin_call("probe")
        compare()
        assert is_last_call_compared()


def test_one_example_with_a_comparison_is_enough() -> None:
    begin_test()
    for n in (0, 2, 0):
        begin_call("first")
        for _ in range(n):
            check(True)
    assert is_last_call_compared()
    begin_call("second")
    assert not is_last_call_compared()

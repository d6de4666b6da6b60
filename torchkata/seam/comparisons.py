"""Notices a test that passes although it never compares the answer to its last call."""


class Comparisons:
    """The calls of the test that is running in this process, and which of them were followed by a comparison."""

    last = ""  # the probe of the last call
    compared: set[str] = set()  # noqa: RUF012  probes with an answer that was compared, in any example


def begin_test() -> None:
    """Forget the previous test."""
    Comparisons.last, Comparisons.compared = "", set()


def begin_call(probe: str) -> None:
    """Note a call of the student's code."""
    Comparisons.last = probe


def count_comparison() -> None:
    """Note a comparison. Each public assertion calls this function, whether it succeeds or fails."""
    Comparisons.compared.add(Comparisons.last)


def is_last_call_compared() -> bool:
    """Return whether an answer to the last probe was compared. Some examples may have nothing to compare."""
    return Comparisons.last in Comparisons.compared

"""Counts comparisons, so that a test that passes without comparing the student's last answer is noticed."""


class Comparisons:
    """The number of comparisons that the tests in this process have made since the last call of the student's code."""

    since_call = 0


def count_comparison() -> None:
    """Count a comparison. Each public assertion calls this function, whether it succeeds or fails."""
    Comparisons.since_call += 1

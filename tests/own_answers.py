"""Helps tests whose subject is not the formula to judge a student's code by its own formula.

Such a test compares with the oracle as long as the student's answer to a plain input is right, and with the student's
own answers otherwise. A wrong formula then fails only the tests of the formula.
"""

from collections.abc import Callable


def holds(assertion: Callable[..., None], *args: object, **kwargs: object) -> bool:
    """Return whether an assertion holds for these arguments."""
    try:
        assertion(*args, **kwargs)
    except AssertionError:
        return False
    return True

"""A helper for tests of other properties than the formula, which should not fail if only the formula is wrong.

If the student's answer to a plain input is right, such a test compares with the oracle. Otherwise, it compares with
the student's own answers.
"""

from collections.abc import Callable


def holds(assertion: Callable[..., None], *args: object, **kwargs: object) -> bool:
    """Return whether an assertion holds for these arguments."""
    try:
        assertion(*args, **kwargs)
    except AssertionError:
        return False
    return True

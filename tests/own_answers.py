"""A helper for tests that should not fail if only the student's formula is wrong.

If the student's answer to a plain input is correct, such a test compares further answers with the oracle. Otherwise,
the test compares them with the student's own answers.
"""

from collections.abc import Callable


def holds(assertion: Callable[..., None], *args: object, **kwargs: object) -> bool:
    """Return whether an assertion holds for these arguments."""
    try:
        assertion(*args, **kwargs)
    except AssertionError:
        return False
    return True

"""What a probe does with calls that ought to fail."""

from collections.abc import Callable


def refusal(call: Callable[[], object]) -> list[str]:
    """The names of the exception that `call` raises and of its bases, nearest first; empty if it returns.

    A probe makes a call of the same kind that must succeed before it: what always fails has not refused anything.
    """
    try:
        call()
    except NotImplementedError:
        raise
    except Exception as error:
        return [kind.__name__ for kind in type(error).__mro__]
    return []

"""Helper for calls in probes that are expected to fail."""

from collections.abc import Callable


def refusal(call: Callable[[], object]) -> list[str]:
    """Return the names of the exception that `call` raises and of its base classes, or an empty list if it returns.

    Before this, a probe must make a similar call that succeeds, because code that always fails rejects nothing.
    """
    try:
        call()
    except NotImplementedError:
        raise
    except Exception as error:
        return [kind.__name__ for kind in type(error).__mro__]
    return []

"""Helper for calls in probes that are expected to fail."""

from collections.abc import Callable


def refusal(call: Callable[[], object]) -> list[str]:
    """Return the names of the exception that `call` raises and of its base classes, or an empty list if it returns.

    The probe must first make a similar call that succeeds, because an exception in every call is not a rejection.
    """
    try:
        call()
    except NotImplementedError:
        raise
    except Exception as error:
        return [kind.__name__ for kind in type(error).__mro__]
    return []

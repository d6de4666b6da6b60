"""Helper for calls in probes that are expected to fail."""

import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType


def refusal(call: Callable[[], object], caught: list[Exception] | None = None) -> list[str]:
    """Return the names of the exception that `call` raises and of its base classes, or an empty list if it returns.

    The exception is appended to the list `caught`.

    The probe must first make a similar call that succeeds, because an exception in every call is not a rejection.
    """
    try:
        call()
    except NotImplementedError:
        raise
    except Exception as error:
        if caught is not None:
            caught.append(error)
        return [kind.__name__ for kind in type(error).__mro__]
    return []


def describe_error(error: BaseException, module: ModuleType) -> str:
    """Return an exception with its message and the line of the student's module that raised it or called its source."""
    trace = traceback.walk_tb(error.__traceback__)
    lines = [line for frame, line in trace if frame.f_code.co_filename == module.__file__]
    place = f" ({Path(str(module.__file__)).name}, line {lines[-1]})" if lines else ""
    return f"{type(error).__name__}: {error}{place}"

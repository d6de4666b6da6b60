"""pytest plugin that recognizes an untouched stub by its source, so that its tests need no inputs and no call.

In all other cases, the tests run, and the answer of the code decides.
"""

from pathlib import Path

import pytest

from torchkata.inside.source.errors import parse
from torchkata.inside.source.stubs import find_line
from torchkata.inside.source.text import decode
from torchkata.seam.failures import NotStarted, Place
from torchkata.seam.student import InProcess

from .run_state import get_state
from .selection import find_kata


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> None:
    """Raise NotStarted if the kata's file is untouched."""
    kata, state = find_kata(pyfuncitem.path), get_state(pyfuncitem.config)
    if kata is None or not isinstance(state.student.runner, InProcess):
        return
    if kata not in state.places:
        state.places[kata] = find_place(state.student.runner.assignment.__files__.folder / f"{kata}.py")
    if place := state.places[kata]:
        raise NotStarted(place)


def find_place(file: Path) -> Place | None:
    """Return the first line that raises NotImplementedError if a file is untouched, otherwise None."""
    try:
        source = decode(file.read_bytes())
    except OSError:
        return None
    line = find_line(parse(source))
    return Place(file.name, line, source.splitlines()[line - 1]) if line else None

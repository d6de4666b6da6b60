"""pytest plugin: runs a property over inputs that were drawn ahead, and Hypothesis itself only where one of them fails.

    all inputs pass      the test has passed; Hypothesis' engine, which costs more than most bodies, never ran
    one fails            the student's code begins anew; Hypothesis finds the failure, makes it small, and reports it
    none can be had      Hypothesis alone runs, as in any project

Where the inputs come from is an `Inputs`: on a student's machine they are new in every run, the grader draws them once.
"""

import inspect
from collections.abc import Callable, Generator, Iterable
from contextlib import closing
from functools import partial
from typing import Any, Protocol

import pytest
from hypothesis.errors import HypothesisException, StopTest

from torchkata.compat import hypothesis_internals as internals
from torchkata.diagnosis.recording import get_body

from .run_state import get_state
from .selection import find_kata

ENGINE_OPTIONS = tuple(f"--hypothesis-{name}" for name in ("profile", "show-statistics", "verbosity", "seed"))


class Inputs(Protocol):
    """Where the inputs of a property come from, when no engine draws them."""

    def of(self, item: pytest.Function, seed: int) -> "Generator[Input] | None":
        """The inputs of this test, None where only Hypothesis can draw them."""


class Input:
    """The arguments that `@given` would pass, and what is to be done when the test fails on them."""

    def __init__(self, given: dict[str, Any], failed: Callable[[], None] = lambda: None) -> None:
        self.given = given
        self.failed = failed


class NewInputs:
    """New ones in every run. Hypothesis is told which failed; where it still knows of a failure, it runs first."""

    def of(self, item: pytest.Function, seed: int) -> "Generator[Input] | None":
        """As `Inputs.of`."""
        test = item.obj
        if internals.has_explicit_examples(test) or internals.has_saved_failures(test):
            return None
        return self.drawn(test, seed)

    def drawn(self, test: Any, seed: int) -> "Generator[Input]":
        """One after the other, so that none is drawn in vain after a failure."""
        for given, data in internals.draw_without_engine(test, seed, internals.get_settings(test).max_examples):
            yield Input(given, partial(internals.save_failure, test, data))


def pytest_configure(config: pytest.Config) -> None:
    """Students get new inputs. Who asks for something of Hypothesis', as for a profile of grading, gets its engine."""
    get_state(config).inputs = None if any(map(config.getoption, ENGINE_OPTIONS)) else NewInputs()


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a kata's property on inputs drawn ahead; `None`, so that pytest goes on as ever, for any other test."""
    inputs, kata = get_state(pyfuncitem.config).inputs, find_kata(pyfuncitem.path)
    if inputs is None or kata is None or pyfuncitem.cls is not None or not hasattr(pyfuncitem.obj, "hypothesis"):
        return None
    ahead = inputs.of(pyfuncitem, get_state(pyfuncitem.config).seed)
    if ahead is None:
        return None
    taken = inspect.signature(pyfuncitem.obj).parameters
    fixtures = {name: value for name, value in pyfuncitem.funcargs.items() if name in taken}
    with closing(ahead):
        count, error = run_inputs(get_body(pyfuncitem), fixtures, ahead)
    if error is None:
        return True if count else None  # where a strategy turned down all draws, Hypothesis says so
    student = get_state(pyfuncitem.config).student
    call = student.last
    student.start_over(kata)
    pyfuncitem.obj(**fixtures)
    if not isinstance(error, (HypothesisException, StopTest)):  # a body that discards inputs is Hypothesis' alone
        student.last = call
        raise error  # the code answers differently now: it was wrong all the same
    return True


def run_inputs(
    body: Callable[..., None], fixtures: dict[str, Any], inputs: Iterable[Input]
) -> tuple[int, BaseException | None]:
    """How many inputs the body ran on, and what the last of them raised, if it did.

    What ends a test at once, like a time-out, is raised here and now.
    """
    count = 0
    for drawn in inputs:
        count += 1
        try:
            body(**fixtures, **drawn.given)
        except (Exception, SystemExit, StopTest) as error:
            drawn.failed()
            return count, error
    return count, None

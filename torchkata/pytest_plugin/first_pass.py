"""pytest plugin: runs a property on inputs drawn in advance, and Hypothesis only if one of them fails.

If all inputs pass, the test passes without Hypothesis' engine, which costs more time than most test bodies. If an input
fails, the student's code is imported again, and Hypothesis finds, shrinks and reports the failure. If no inputs are
available, Hypothesis runs as usual.

An `Inputs` object supplies the inputs: new inputs in every run on a student's machine, the same inputs for all
submissions in the grader.
"""

import inspect
from collections.abc import Callable, Generator, Iterable
from contextlib import closing
from dataclasses import dataclass
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
    """A source of inputs for properties, in place of Hypothesis' engine."""

    def draw(self, item: pytest.Function, seed: int) -> "Generator[Input] | None":
        """Return the inputs of this test, or None if only Hypothesis can draw them."""


@dataclass(frozen=True)
class Input:
    """The arguments that `@given` would pass, and a callback in case the test fails on them."""

    given: dict[str, Any]
    failed: Callable[[], None] = lambda: None


class NewInputs:
    """New inputs in every run. If an input fails, it is saved, and Hypothesis tries it first in the next run."""

    def draw(self, item: pytest.Function, seed: int) -> "Generator[Input] | None":
        """Return new inputs, or None if the test has examples or saved failures."""
        test = item.obj
        if internals.has_explicit_examples(test) or internals.has_saved_failures(test):
            return None
        draws = internals.draw_without_engine(test, seed, internals.get_settings(test).max_examples)
        return (Input(given, partial(internals.save_failure, test, data)) for given, data in draws)


def pytest_configure(config: pytest.Config) -> None:
    """Draw new inputs, unless an option of Hypothesis, such as a grading profile, requires its engine."""
    get_state(config).inputs = None if any(map(config.getoption, ENGINE_OPTIONS)) else NewInputs()


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a kata's property on inputs drawn in advance; return None for any other test, which pytest then runs."""
    inputs, kata = get_state(pyfuncitem.config).inputs, find_kata(pyfuncitem.path)
    if inputs is None or kata is None or pyfuncitem.cls is not None or not hasattr(pyfuncitem.obj, "hypothesis"):
        return None
    ahead = inputs.draw(pyfuncitem, get_state(pyfuncitem.config).seed)
    if ahead is None:
        return None
    taken = inspect.signature(pyfuncitem.obj).parameters
    fixtures = {name: value for name, value in pyfuncitem.funcargs.items() if name in taken}
    with closing(ahead):
        count, error = run_inputs(get_body(pyfuncitem), fixtures, ahead)
    if error is None:
        return True if count else None  # if the strategy rejected all draws, Hypothesis reports it
    student = get_state(pyfuncitem.config).student
    call = student.last
    student.start_over(kata)
    pyfuncitem.obj(**fixtures)
    if not isinstance(error, (HypothesisException, StopTest)):  # only Hypothesis handles a body that rejects inputs
        student.last = call
        raise error  # the code passed this time, but it was wrong before
    return True


def run_inputs(
    body: Callable[..., None], fixtures: dict[str, Any], inputs: Iterable[Input]
) -> tuple[int, BaseException | None]:
    """Return the number of inputs that the body ran on, and the exception that the last input raised, if any.

    An exception that ends the test at once, such as a time-out, propagates.
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

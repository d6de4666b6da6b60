"""pytest plugin that runs property tests on inputs drawn in advance, and runs Hypothesis only if an input fails.

If all inputs pass, the test passes without using Hypothesis' engine, which takes more time than most test bodies. If an
input fails, the student's code is imported again, and Hypothesis finds, shrinks and reports the failure. If no inputs
are available, Hypothesis runs as usual.

An `Inputs` object supplies the inputs: new inputs in every run on a student's machine, the same inputs for all
submissions in the grader.
"""

import inspect
from collections.abc import Callable, Generator, Iterable
from contextlib import closing
from functools import partial
from typing import Any

import pytest
from hypothesis.errors import HypothesisException, StopTest

from torchkata.diagnosis.recording import get_body
from torchkata.inside import hypothesis_internals as internals

from .inputs import Input
from .run_state import get_state
from .selection import find_kata

ENGINE_OPTIONS = tuple(f"--hypothesis-{name}" for name in ("profile", "show-statistics", "verbosity", "seed"))


class NewInputs:
    """Draws new inputs in every run.

    If an input fails, it is saved so that Hypothesis tries it first in the next run.
    """

    def draw(self, item: pytest.Function, seed: int) -> Generator[Input] | None:
        """Return new inputs, or None if the test has explicit examples or saved failures."""
        test = item.obj
        if internals.has_explicit_examples(test) or internals.has_saved_failures(test):
            return None
        draws = internals.draw_without_engine(test, seed, internals.get_settings(test).max_examples)
        return (Input(given, partial(internals.save_failure, test, data)) for given, data in draws)


def pytest_configure(config: pytest.Config) -> None:
    """Use newly drawn inputs, unless a Hypothesis option (such as the profile for grading) requires the engine."""
    get_state(config).inputs = None if any(map(config.getoption, ENGINE_OPTIONS)) else NewInputs()


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a kata's property test on inputs drawn in advance. Return None for other tests, so that pytest runs them."""
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
        return True if count else None  # if the strategy rejected all draws, let Hypothesis report it
    student = get_state(pyfuncitem.config).student
    call = student.last
    student.start_over(kata)
    pyfuncitem.obj(**fixtures)
    if not isinstance(error, (HypothesisException, StopTest)):  # only Hypothesis can handle a body that rejects inputs
        student.last = call
        raise error  # the code passed this time, but was wrong before
    return True


def run_inputs(
    body: Callable[..., None], fixtures: dict[str, Any], inputs: Iterable[Input]
) -> tuple[int, BaseException | None]:
    """Run the body on the inputs until it fails. Return the number of inputs used, and the exception, if any.

    Exceptions that end the test immediately, such as timeouts, are propagated.
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

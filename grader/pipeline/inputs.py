"""Random inputs, drawn once for all submissions of a run.

The grader has Hypothesis draw a test's inputs before it forks the first child that runs this test. Every child inherits
the inputs as its own copy, so a child cannot change those of another one.

Hypothesis would draw the same inputs for each submission, since the seed is the same. When a submission fails on one of
them, Hypothesis itself runs and finds the same failure.
"""

import functools
import inspect
from collections.abc import Generator
from typing import Any

import hypothesis
import pytest

from torchkata.compat.hypothesis_internals import get_settings
from torchkata.pytest_plugin.first_pass import Input


class DrawnInputs:
    """An `Inputs` that draws a test's inputs when they are first requested, and keeps them in memory.

    It forgets the inputs of a test when those of another seed or number of examples are requested, so that a proof of
    many seeds does not fill the memory.
    """

    def __init__(self) -> None:
        self.drawn: dict[object, tuple[tuple[int, int], list[dict[str, Any]] | None]] = {}  # by test

    def draw(self, item: pytest.Function, seed: int) -> "Generator[Input] | None":
        """Return the inputs of this test, as `torchkata.pytest_plugin.first_pass.Inputs.draw` does."""
        wanted = (seed, get_settings(item.obj).max_examples)
        drawn, inputs = self.drawn.get(item.obj, (None, None))
        if drawn != wanted:
            inputs = draw_inputs(item, seed)
            self.drawn[item.obj] = wanted, inputs
        return None if inputs is None else (Input(given) for given in inputs)


def draw_inputs(item: pytest.Function, seed: int) -> list[dict[str, Any]] | None:
    """Return what `@given` passes to a test as long as nothing fails; None if Hypothesis cannot draw it.

    An input may itself draw more, like `st.data()`. It refuses to once this function has returned, and the first pass
    leaves such a test to Hypothesis.
    """
    hypothesis.seed(seed)(item.obj)
    handle = item.obj.hypothesis
    body: Any = handle.inner_test
    inputs: list[dict[str, Any]] = []
    fixtures: dict[str, Any] = dict.fromkeys(inspect.signature(item.obj).parameters)

    @functools.wraps(body)
    def record(**arguments: Any) -> None:
        inputs.append({name: value for name, value in arguments.items() if name not in fixtures})

    handle.inner_test = record
    try:
        item.obj(**fixtures)
    except Exception:  # of Hypothesis or of a strategy: the child that runs the test reports it
        return None
    finally:
        handle.inner_test = body
    return inputs

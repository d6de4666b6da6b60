"""Draws the random inputs once for all submissions of a run.

Hypothesis draws a test's inputs before the grader forks the first child that runs this test. Every child inherits its
own copy of the inputs, so no child can change the inputs of another.

The seed is the same for all submissions, so Hypothesis would draw the same inputs for each submission. When a
submission fails on an input, Hypothesis itself runs and finds the same failure.
"""

import functools
import inspect
from collections.abc import Generator
from typing import Any

import hypothesis
import pytest

from torchkata.compat.hypothesis_internals import get_settings
from torchkata.pytest_plugin.first_pass import Input


class SharedInputs:
    """An `Inputs` that draws a test's inputs at the first request and keeps them in memory.

    When another seed or number of examples is requested, the earlier inputs of that test are discarded, so that proofs
    with many seeds do not fill the memory.
    """

    def __init__(self) -> None:
        self.drawn: dict[object, tuple[tuple[int, int], list[dict[str, Any]] | None]] = {}  # keyed by test

    def draw(self, item: pytest.Function, seed: int) -> "Generator[Input] | None":
        """Return the inputs of this test, as `torchkata.pytest_plugin.first_pass.Inputs.draw` does."""
        key = (seed, get_settings(item.obj).max_examples)
        drawn, inputs = self.drawn.get(item.obj, (None, None))
        if drawn != key:
            inputs = draw_inputs(item, seed)
            self.drawn[item.obj] = key, inputs
        return None if inputs is None else (Input(given) for given in inputs)


def draw_inputs(item: pytest.Function, seed: int) -> list[dict[str, Any]] | None:
    """Return the arguments that `@given` passes to a test while nothing fails, or None if Hypothesis cannot draw them.

    Some inputs, like `st.data()`, draw more values during the test. This is impossible after this function has
    returned, so the first pass leaves such a test to Hypothesis.
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
    except Exception:  # Hypothesis or a strategy failed; the child that runs the test reports the error
        return None
    finally:
        handle.inner_test = body
    return inputs

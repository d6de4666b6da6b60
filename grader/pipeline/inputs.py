"""Draws the random inputs once for all submissions in a run.

Hypothesis draws the inputs of a test before the grader forks the first child that runs the test. Every child inherits
its own copy of the inputs, so it cannot change the inputs of other children.

Since all submissions use the same seed, Hypothesis would draw the same inputs for each of them. If a submission fails
on an input, the child runs the test again with Hypothesis, which finds the same failure.
"""

import functools
import inspect
from collections.abc import Generator
from typing import Any

import hypothesis
import pytest

from torchkata.inside.hypothesis_internals import get_settings
from torchkata.pytest_plugin.inputs import Input


class SharedInputs:
    """An `Inputs` object that draws the inputs of a test on the first request and caches them.

    If a different seed or number of examples is requested, the previous inputs of that test are discarded to save
    memory.
    """

    def __init__(self) -> None:
        self.drawn: dict[object, tuple[tuple[int, int], list[dict[str, Any]] | None]] = {}  # keyed by test

    def draw(self, item: pytest.Function, seed: int) -> "Generator[Input] | None":
        """Return the inputs of this test (see `torchkata.pytest_plugin.inputs.Inputs.draw`)."""
        key = (seed, get_settings(item.obj).max_examples)
        drawn, inputs = self.drawn.get(item.obj, (None, None))
        if drawn != key:
            inputs = draw_inputs(item, seed)
            self.drawn[item.obj] = key, inputs
        return None if inputs is None else (Input(given) for given in inputs)


def draw_inputs(item: pytest.Function, seed: int) -> list[dict[str, Any]] | None:
    """Return the arguments that `@given` would pass to a test if no example failed.

    Return None if they cannot be drawn in advance: some strategies, such as `st.data()`, draw values while the test is
    running. Hypothesis runs such a test directly, without a first pass over inputs drawn in advance.
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
    except Exception:  # Hypothesis or a strategy failed; the error is reported by the child that runs the test
        return None
    finally:
        handle.inner_test = body
    return inputs

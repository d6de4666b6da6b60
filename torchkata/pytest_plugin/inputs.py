"""The inputs of property tests that are drawn in advance (see `first_pass`)."""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, Protocol

import pytest


@dataclass(frozen=True)
class Input:
    """The arguments that `@given` would pass to the test, and a callback that is called if the test fails on them."""

    given: dict[str, Any]
    failed: Callable[[], None] = lambda: None


class Inputs(Protocol):
    """Provides the inputs of property tests in place of Hypothesis' engine."""

    def draw(self, item: pytest.Function, seed: int) -> Generator[Input] | None:
        """Return the inputs for this test, or None if only Hypothesis itself can draw them."""

"""Tests of shrinking: sizes shrink to 0 only if no other size fails."""

from typing import Any

import pytest
from hypothesis import find
from hypothesis import strategies as st

from tests import test_activation_checkpointing, test_named_dimensions
from tests.strategies import linear_cases, sizes

SMALL = sizes(2, 3, 0)


def test_sizes_shrink_to_zero_only_if_necessary() -> None:
    assert find(SMALL, lambda _: True) == 2
    assert find(SMALL, lambda size: size != 2) == 1
    assert find(SMALL, lambda size: size not in (1, 2)) == 3
    assert find(SMALL, lambda size: size not in (1, 2, 3)) == 0


@pytest.mark.parametrize(
    "inputs", [linear_cases(), test_activation_checkpointing.networks(), test_named_dimensions.several_heads()]
)
def test_smallest_generated_batches_are_not_empty(inputs: st.SearchStrategy[Any]) -> None:
    assert find(inputs, lambda case: case.x.ndim > 1).x.numel() > 0

"""Contracts: property tests that several katas share. Each function returns tests for a kata's test file to define.

    globals().update(optimizer_contract(Optimizer("sgd.SGD", SGD)))

These are functions rather than a base class because Hypothesis rejects a property that several classes inherit.
"""

from collections.abc import Callable
from typing import TypeAlias

Contract: TypeAlias = dict[str, Callable[..., None]]  # tests, by name

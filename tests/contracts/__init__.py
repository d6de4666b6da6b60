"""Contracts: property tests shared by several katas. Each function returns tests to be defined in a kata's test file.

    globals().update(optimizer_contract(Optimizer("sgd.SGD", SGD)))

These are functions rather than a base class because Hypothesis rejects a property that several classes inherit.
"""

from collections.abc import Callable
from typing import TypeAlias

Contract: TypeAlias = dict[str, Callable[..., None]]  # tests, by name

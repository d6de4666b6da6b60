"""Contracts: property tests shared by several katas. Each function returns tests to be defined in a kata's test file.

    globals().update(optimizer_contract(Optimizer("sgd.SGD", SGD)))

Contracts are functions and not base classes, because Hypothesis rejects a property that several classes inherit.
"""

from collections.abc import Callable
from typing import TypeAlias

Contract: TypeAlias = dict[str, Callable[..., None]]  # tests, by name

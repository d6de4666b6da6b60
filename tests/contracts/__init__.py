"""Contracts: property tests shared by several katas. Each function returns a test, which a kata's test file names.

    test_step_updates_in_place = optimizer.step_updates_in_place(Optimizer("sgd.SGD", SGD))

Contracts are functions and not base classes, because Hypothesis rejects a property that several classes inherit.
"""

from collections.abc import Callable
from typing import TypeAlias

Test: TypeAlias = Callable[..., None]

"""Contracts: properties that katas share. Each function makes the tests of one kata, whose test file takes them over.

    globals().update(optimizer_contract(Optimizer(probes, SGD)))

A class to inherit would not do: Hypothesis refuses a property that several classes run.
"""

from collections.abc import Callable
from typing import TypeAlias

Contract: TypeAlias = dict[str, Callable[..., None]]  # tests, by name

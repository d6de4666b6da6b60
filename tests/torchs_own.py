"""What torch's own optimizers make of a run, in float64 and in the process of the tests."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from torch import Tensor

from tests.probes import optimizers
from tests.strategies import OptimizerRun


def in_float64(run: OptimizerRun) -> OptimizerRun:
    """The same run, in wider numbers."""
    params = [[p.double() for p in group] for group in run.params]
    grads = [[[None if grad is None else grad.double() for grad in group] for group in step] for step in run.grads]
    return replace(run, params=params, grads=grads)


def run_of(make: Callable[..., Any] | None, run: OptimizerRun) -> list[list[list[Tensor]]]:
    """The parameters after every step of torch's own optimizer, `make(groups, lr=…)`."""
    run = in_float64(run)
    optimizer = optimizers.build(make, run.params, run.lrs[0], run.options)
    return optimizers.walk(optimizer, run.lrs, run.grads)

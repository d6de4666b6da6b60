"""Adam: averages of the gradient and of its square, both corrected for their start at 0, and decay in the gradient."""

from dataclasses import replace
from typing import Any

import torch
from hypothesis import given
from hypothesis import strategies as st

from reference.adam import oracle
from tests.contracts.memory import counting_contract, memory_contract, options_contract
from tests.contracts.optimizer import Optimizer, optimizer_contract
from tests.optimizer_runs import assert_run, rule_of
from tests.probes import adam as probes
from tests.strategies import WIDE_DTYPES, OptimizerRun, costly, from_nothing, runs
from torchkata import Student

ADAM = rule_of(oracle, lr=0.001, betas=(0.9, 0.999))
BETAS = st.sampled_from([(0.9, 0.999), (0.9, 0.95), (0.5, 0.9), (0.9, 0.5), (0.0, 0.9)])
OPTIONS: list[dict[str, Any]] = [
    {"betas": (0.5, 0.9)},
    {"betas": (0.9, 0.95), "weight_decay": 0.1},
    {"eps": 0.1, "weight_decay": 1.0},
    {"betas": (0.8, 0.6), "eps": 1e-3},
]


def where_nothing_cancels(run: OptimizerRun) -> OptimizerRun:
    """Parameters so far from 0 that they stay on their side of it, and gradients that point as decay does.

    Where decay and gradient cancel, what is left of them is mostly rounding, and Adam brings it to full size.
    """
    params = [[p + 20 * p.sign() for p in group] for group in run.params]
    grads = [
        [
            [None if grad is None else grad.abs() * p.sign() for grad, p in zip(*row, strict=True)]
            for row in zip(step, params, strict=True)
        ]
        for step in run.grads
    ]
    return replace(run, params=params, grads=grads)


OPTIMIZER = Optimizer(probes, ADAM, OPTIONS, where_nothing_cancels, tensors=2, of_torch=torch.optim.Adam)
globals().update(optimizer_contract(OPTIMIZER) | memory_contract(OPTIMIZER))
globals().update(options_contract(OPTIMIZER) | counting_contract(OPTIMIZER))


@costly
@given(runs(dtypes=WIDE_DTYPES), BETAS)
def test_the_first_step_is_corrected_to_its_full_size(
    student: Student, run: OptimizerRun, betas: tuple[float, float]
) -> None:
    """The first step turns p into p - lr * grad / (|grad| + eps), whatever the betas: both averages are corrected."""
    run = replace(run, options=[{"betas": betas}])
    yours = student.call(probes.run, run.params, run.lrs, run.grads, run.options)
    assert_run(yours, run, ADAM)


@costly
@given(runs(steps=4, dtypes=WIDE_DTYPES), BETAS)
def test_both_averages_fade_and_are_corrected(student: Student, run: OptimizerRun, betas: tuple[float, float]) -> None:
    """After t steps the averages of the gradient and of its square are divided by 1 - beta1ᵗ and 1 - beta2ᵗ."""
    run = replace(run, options=[{"betas": betas}])
    yours = student.call(probes.run, run.params, run.lrs, run.grads, run.options)
    assert_run(yours, run, ADAM)


@costly
@given(runs(steps=3, powers=(-12, 12)), BETAS, st.sampled_from([1e-8, 1e-3, 1.0]))
def test_epsilon_is_added_to_the_corrected_root(
    student: Student, run: OptimizerRun, betas: tuple[float, float], eps: float
) -> None:
    """eps is added to the root of the corrected average, not inside it nor before the correction."""
    run = replace(from_nothing(run), options=[{"betas": betas, "eps": eps}])
    yours = student.call(probes.run, run.params, run.lrs, run.grads, run.options)
    assert_run(yours, run, ADAM)


@costly
@given(runs(steps=3), st.sampled_from([0.1, 0.01, 1.0]))
def test_weight_decay_joins_the_gradient(student: Student, run: OptimizerRun, weight_decay: float) -> None:
    """weight_decay * p is added to the gradient before both averages take it in."""
    run = replace(where_nothing_cancels(run), options=[{"weight_decay": weight_decay}])
    yours = student.call(probes.run, run.params, run.lrs, run.grads, run.options)
    assert_run(yours, run, ADAM)

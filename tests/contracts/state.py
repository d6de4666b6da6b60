"""Tests of what state and options add to an optimizer."""

from dataclasses import replace

import torch
from hypothesis import given
from hypothesis import strategies as st

from reference import optimizers as oracle
from tests.contracts import Test
from tests.contracts.optimizer import (
    FACTORS,
    Optimizer,
    check_applied,
    check_nothing_else_changed,
    check_run,
    check_scheduler,
    check_zero_rate,
    find_rule,
)
from tests.optimizer_runs import assert_resumed, assert_run, convert_to_float64, run_torch
from tests.probes import optimizers as probes
from tests.strategies import SEEDS, WIDE_DTYPES, OptimizerRun, costly, from_tiny_to_large, normal, rng_of, runs
from torchkata import Student, Text, assert_equal, check, precondition

CAST = Text(
    "a loaded run of 20 steps in bfloat16 is right, but one of 300 is wrong: load_state_dict() casts "
    "every tensor in the state, except one named step, to p's dtype, and in bfloat16, 256 + 1 is 256"
)
END, UNINTERRUPTED = Text("p at the end"), Text("expected is p at the end of the same run without loading")
PICKS = st.permutations(range(4)).map(lambda order: order[:2])  # options for two groups


def loading_state_resumes_training_exactly(optimizer: Optimizer) -> Test:
    """Return the test of an interrupted run, for any optimizer with a state."""

    @costly
    @given(runs(groups=2, steps=3), PICKS, st.integers(0, 2))
    def test_loading_state_resumes_training_exactly(
        student: Student, run: OptimizerRun, picks: list[int], stop: int
    ) -> None:
        """A run saved with state_dict() and loaded into a new optimizer continues exactly like an uninterrupted run."""
        run = optimizer.choose_options(run, picks)
        rule = find_rule(student, optimizer, run)
        name, params, lrs, grads, options = optimizer.name, run.params, run.lrs, run.grads, run.options
        own = [round(3 * lr, 9) for lr in lrs[0]]  # of the new optimizer, before it loads those of the run
        reply = student.call(probes.run_interrupted, name, params, lrs, grads, stop, own, options)
        with precondition(Text("the uninterrupted run is already wrong")):
            assert_run(reply["run"], run, rule)
        assert_resumed(reply["resumed end"], reply["end"], run, rule, stop, own)

    return test_loading_state_resumes_training_exactly


def loading_restores_step_count(optimizer: Optimizer) -> Test:
    """Return the test for optimizers that count their steps."""

    def test_loading_restores_step_count(student: Student) -> None:
        """The step count continues after load_state_dict(), even beyond 256 steps in bfloat16."""
        few, many = (student.call(probes.take_many_steps, optimizer.name, steps) for steps in (20, 300))
        with precondition(Text("a loaded run of 20 steps already differs from an uninterrupted one")):
            assert_equal(few["resumed"], few["whole"], what=END)
        assert_equal(many["resumed"], many["whole"], what=END, note=UNINTERRUPTED, mistake=CAST)

    return test_loading_restores_step_count


def each_group_uses_its_own_options(optimizer: Optimizer) -> Test:
    """Return the test of the options of parameter groups, which include the learning rate."""

    @costly
    @given(runs(groups=2, steps=3, own_rates=True), PICKS, FACTORS)
    def test_each_group_uses_its_own_options(
        student: Student, run: OptimizerRun, picks: list[int], gamma: float
    ) -> None:
        """Each parameter has its own state, and uses its group's options and current lr, even if this is 0."""
        check_zero_rate(student, optimizer)
        check_scheduler(student, optimizer, optimizer.make_constant(optimizer.choose_options(run, picks)), gamma)

    return test_each_group_uses_its_own_options


def options_have_defaults(optimizer: Optimizer) -> Test:
    """Return the test of the defaults of all options."""

    @costly
    @given(SEEDS)
    def test_options_have_defaults(student: Student, seed: int) -> None:
        """Each option has the stub's default. Groups without own options use those passed to the constructor."""
        rng, lr = rng_of(seed), optimizer.rule.lr
        start = normal(rng, [3]) * torch.tensor([0.0, 1.0, 1.0])  # 0 shows every digit of a step
        run = OptimizerRun([[start]], [[lr]] * 3, [[[from_tiny_to_large(rng, [3], powers=(-9, 2))]] for _ in range(3)])
        for wanted in optimizer.try_options(run):
            options, rate = (wanted.options[0], {"lr": 0.1}) if wanted.options else ({}, {})
            grads, rates = [grad for [[grad]] in wanted.grads], [[rate.get("lr", lr)]] * 3
            explicit = replace(wanted, lrs=rates, options=[{**optimizer.rule.defaults, **options}])
            rule, given = find_rule(student, optimizer, explicit), {**rate, **options}
            yours = student.call(probes.run_with_defaults, optimizer.name, wanted.params[0][0], grads, given)
            rates = rates if rate else [[oracle.hook_default_rate(lr)]] * 3
            assert_run([[[p]] for p in yours], replace(wanted, lrs=rates), rule)

    return test_options_have_defaults


def step_without_grad_leaves_state_unchanged(optimizer: Optimizer) -> Test:
    """Return the test of a step in which a parameter has no gradient."""

    @costly
    @given(runs(groups=2, steps=3, absent=True), PICKS, st.booleans())
    def test_step_without_grad_leaves_state_unchanged(
        student: Student, run: OptimizerRun, picks: list[int], is_zero: bool
    ) -> None:
        """A step in which p.grad is None does not count for p. Other grads are applied; requires_grad never changes."""
        for order in (picks, picks[::-1]):  # the gradient is missing in the first group
            each = optimizer.choose_options(run, order)
            rule = find_rule(student, optimizer, each)
            is_rule_known = rule is optimizer.rule  # otherwise, it applies only to these gradients
            if is_rule_known:
                with precondition(Text("the steps are already wrong if every parameter has a gradient")):
                    check_run(student, optimizer, fill_with_ones(each))
            check_run(student, optimizer, set_second_to_zeros(each) if is_zero and is_rule_known else each, rule)
        check_applied(student.call(probes.step_on_nan, optimizer.name))

    return test_step_without_grad_leaves_state_unchanged


def fill_with_ones(run: OptimizerRun) -> OptimizerRun:
    """Replace missing gradients with ones."""
    pairs = [
        [zip(grads, params, strict=True) for grads, params in zip(step, run.params, strict=True)] for step in run.grads
    ]
    return replace(
        run,
        grads=[[[torch.ones_like(p) if grad is None else grad for grad, p in row] for row in step] for step in pairs],
    )


def set_second_to_zeros(run: OptimizerRun) -> OptimizerRun:
    """Set the gradients of the second step, except those that are missing, to zeros. They change the state.

    If the first step lacks a gradient, the second one may be the first of a parameter, which zeros would hide.
    """
    first, second, *later = run.grads
    if any(grad is None for group in first for grad in group):
        return run
    zeros = [[None if grad is None else torch.zeros_like(grad) for grad in group] for group in second]
    return replace(run, grads=[first, zeros, *later])


def step_changes_only_parameters_and_state(optimizer: Optimizer) -> Test:
    """Return the test of what a step leaves behind: the same parameters and gradients, and a state of the right size.

    An option, such as nesterov, may lead to a sum that is left in grad or stored.
    """

    @costly
    @given(runs(groups=2, steps=2, dtypes=WIDE_DTYPES), PICKS)
    def test_step_changes_only_parameters_and_state(student: Student, run: OptimizerRun, picks: list[int]) -> None:
        """A step changes p in place, and otherwise only its state: the formula's tensors, in the dtype of p."""
        run = optimizer.choose_options(run, picks)
        name, params, lrs, grads, options = optimizer.name, run.params, run.lrs, run.grads, run.options
        reply = student.call(probes.measure_state, name, params, lrs, grads, options)
        check_nothing_else_changed(reply, [grad for group in grads[-1] for grad in group])
        held = reply["state"]
        size = sum(p.nbytes for group in run.params for p in group)
        fits = oracle.is_within_budget(held, {str(run.params[0][0].dtype): size}, optimizer.tensors)
        total, needed = sum(held.values()), optimizer.tensors * size
        check(
            fits,
            Text(
                "the state contains {held} bytes for {size} bytes of parameters; the formula needs {needed}",
                held=total,
                size=size,
                needed=needed,
            ),
        )

    return test_step_changes_only_parameters_and_state


def result_matches_torch(optimizer: Optimizer) -> Test:
    """Return the test that compares with torch's optimizer."""

    @costly
    @given(runs(steps=3, changing=True, any_shape=True), st.integers(0, 3))
    def test_result_matches_torch(student: Student, run: OptimizerRun, pick: int) -> None:
        """With the same options, learning rates and gradients, the result matches the corresponding torch optimizer."""
        run = optimizer.choose_options(run, [pick])
        theirs = run_torch(optimizer.torch_class, run)
        try:
            assert_run(theirs, convert_to_float64(run), optimizer.rule)
        except AssertionError:  # a known mistake replaces the rule: do the answers follow it?
            theirs = None
        name, params, lrs, grads, options = optimizer.name, run.params, run.lrs, run.grads, run.options
        yours = student.call(probes.run_alone, name, params, lrs, grads, options)  # another test is about groups
        assert_run(yours, run, optimizer.rule, theirs, alone=True)

    return test_result_matches_torch

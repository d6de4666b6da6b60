"""Tests that optimizers with state or options must pass."""

from dataclasses import replace

import torch
from hypothesis import given
from hypothesis import strategies as st

from reference import optimizers as oracle
from tests.contracts import Test
from tests.contracts.optimizer import Optimizer, check_loading, check_run, find_rule
from tests.optimizer_runs import assert_resumed, assert_run, convert_to_float64, run_torch
from tests.probes import optimizers as probes
from tests.strategies import SEEDS, WIDE_DTYPES, OptimizerRun, costly, from_tiny_to_large, normal, rng_of, runs
from torchkata import Student, Text, assert_equal, check, precondition

CAST = Text(
    "load_state_dict() casts t to bfloat16, where 256 + 1 is 256: it casts every tensor in the state "
    "to the parameter's dtype, except one named step"
)
UNINTERRUPTED = Text("p at the end (expected: without loading)")
PICKS = st.permutations(range(4)).map(lambda order: order[:2])  # options for two groups


def loading_state_resumes_training_exactly(optimizer: Optimizer) -> Test:
    """Return the test of an interrupted run, for any optimizer with a state."""

    @costly
    @given(runs(groups=2, steps=3), runs(groups=2), PICKS, st.integers(0, 2))
    def test_loading_state_resumes_training_exactly(
        student: Student, run: OptimizerRun, loaded: OptimizerRun, picks: list[int], stop: int
    ) -> None:
        """A run saved with state_dict() and loaded into a new optimizer continues exactly like an uninterrupted run."""
        run = optimizer.choose_options(run, picks)
        rule = find_rule(student, optimizer, run)
        reply = student.call(probes.run_interrupted, optimizer.name, run.params, run.lrs, run.grads, stop, run.options)
        with precondition(Text("the uninterrupted run is already wrong")):
            assert_run(reply["run"], run, rule)
        assert_resumed(reply["resumed end"], reply["end"], run, rule, stop)
        check_loading(student, optimizer, loaded)

    return test_loading_state_resumes_training_exactly


def loading_restores_step_count(optimizer: Optimizer) -> Test:
    """Return the test for optimizers that count their steps."""

    def test_loading_restores_step_count(student: Student) -> None:
        """The step count continues after load_state_dict(), even beyond 256 steps in bfloat16."""
        few, many = (student.call(probes.take_many_steps, optimizer.name, steps) for steps in (20, 300))
        with precondition(Text("a loaded run of 20 steps already differs from an uninterrupted one")):
            assert_equal(few["resumed"], few["whole"], what=UNINTERRUPTED)
        assert_equal(many["resumed"], many["whole"], what=UNINTERRUPTED, mistake=CAST)

    return test_loading_restores_step_count


def each_group_uses_its_own_options(optimizer: Optimizer) -> Test:
    """Return the test of the options of parameter groups."""

    @costly
    @given(runs(groups=2, steps=3), PICKS)
    def test_each_group_uses_its_own_options(student: Student, run: OptimizerRun, picks: list[int]) -> None:
        """Each parameter group uses its own options, not those of another group or those passed to the constructor."""
        run = optimizer.choose_options(run, picks)
        rule = find_rule(student, optimizer, run)
        check_run(student, optimizer, run, rule)

    return test_each_group_uses_its_own_options


def options_have_defaults(optimizer: Optimizer) -> Test:
    """Return the test of the defaults of all options."""

    @costly
    @given(SEEDS)
    def test_options_have_defaults(student: Student, seed: int) -> None:
        """Each option has a default. Options passed to the constructor apply to groups without their own options."""
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
    @given(runs(steps=3, absent=True))
    def test_step_without_grad_leaves_state_unchanged(student: Student, run: OptimizerRun) -> None:
        """A step in which a parameter has no gradient changes neither its state nor its step count."""
        for each in optimizer.try_options(run):
            check_run(student, optimizer, each, find_rule(student, optimizer, each))

    return test_step_without_grad_leaves_state_unchanged


def state_has_no_extra_tensors(optimizer: Optimizer) -> Test:
    """Return the test of the memory that the state takes."""

    @costly
    @given(runs(groups=2, steps=2, dtypes=WIDE_DTYPES))
    def test_state_has_no_extra_tensors(student: Student, run: OptimizerRun) -> None:
        """The state contains only the tensors that the formula needs, in the dtype of the parameter."""
        held = student.call(probes.measure_state, optimizer.name, run.params, run.lrs, run.grads)
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

    return test_state_has_no_extra_tensors


def result_matches_torch(optimizer: Optimizer) -> Test:
    """Return the test that compares with torch's optimizer."""

    @costly
    @given(runs(steps=3, changing=True, absent=True), st.integers(0, 3))
    def test_result_matches_torch(student: Student, run: OptimizerRun, pick: int) -> None:
        """With the same options, learning rates and gradients, the result matches the corresponding torch optimizer."""
        run = optimizer.choose_options(run, [pick])
        theirs = run_torch(optimizer.torch_class, run)
        try:
            assert_run(theirs, convert_to_float64(run), optimizer.rule)
        except AssertionError:  # a known mistake replaces the rule: do the answers follow it?
            theirs = None
        check_run(student, optimizer, run, expected=theirs)

    return test_result_matches_torch

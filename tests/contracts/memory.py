"""What an optimizer with a memory must do besides, and one with options, too."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from reference import optimizers as oracle
from tests.contracts import Contract
from tests.contracts.optimizer import Optimizer, check_plain_steps
from tests.optimizer_runs import assert_resumed, assert_run
from tests.strategies import SEEDS, WIDE_DTYPES, OptimizerRun, costly, from_tiny_to_large, normal, rng_of, runs
from tests.torchs_own import in_float64, run_of
from torchkata import Student, assert_equal, check, precondition

CAST = (
    "load_state_dict() has cast t to bfloat16, in which 256 + 1 is 256: it casts each tensor in the state to the "
    "parameter's dtype, but for one named step"
)
PICKS = st.permutations(range(4)).map(lambda order: order[:2])  # options for two groups


def memory_contract(optimizer: Optimizer) -> Contract:
    """The test of any optimizer with a memory."""

    @costly
    @given(runs(groups=2, steps=3, changing=True, absent=True), PICKS, st.integers(0, 2))
    def test_a_saved_and_loaded_run_goes_on_unchanged(
        student: Student, run: OptimizerRun, picks: list[int], stop: int
    ) -> None:
        """state_dict() midway, load_state_dict() into a new optimizer: the run ends exactly as without the break."""
        run = optimizer.equipped(run, picks)
        check_plain_steps(student, optimizer, run)
        reply = student.call(optimizer.probes.interrupted, run.params, run.lrs, run.grads, stop, run.options)
        with precondition("already the run without the break goes elsewhere"):
            assert_run(reply["run"], run, optimizer.rule)
        assert_resumed(reply["resumed end"], reply["end"], run, optimizer.rule, stop)

    return {"test_a_saved_and_loaded_run_goes_on_unchanged": test_a_saved_and_loaded_run_goes_on_unchanged}


def counting_contract(optimizer: Optimizer) -> Contract:
    """The test of an optimizer that counts its steps."""

    def test_steps_are_counted_on_after_loading(student: Student) -> None:
        """After load_state_dict() steps are counted on, beyond 256 of them in bfloat16, too."""
        few, many = (student.call(optimizer.probes.counted_on, steps) for steps in (20, 300))
        with precondition("already a run of twenty steps does not go on as it would have"):
            assert_equal(few["resumed"], few["whole"], what="p at the end")
        assert_equal(many["resumed"], many["whole"], what="p at the end", mistake=CAST)

    return {"test_steps_are_counted_on_after_loading": test_steps_are_counted_on_after_loading}


def options_contract(optimizer: Optimizer) -> Contract:
    """The tests of any optimizer with a memory and options."""

    @costly
    @given(runs(groups=2, steps=3), PICKS)
    def test_every_group_has_options_of_its_own(student: Student, run: OptimizerRun, picks: list[int]) -> None:
        """Each parameter group moves by its own options, not by those of another group or of the constructor."""
        check_plain_steps(student, optimizer, run)
        run = optimizer.equipped(run, picks)
        yours = student.call(optimizer.probes.run, run.params, run.lrs, run.grads, run.options)
        assert_run(yours, run, optimizer.rule)

    @costly
    @given(SEEDS)
    def test_options_have_their_defaults(student: Student, seed: int) -> None:
        """An option that is not given has its default; one given once holds for all groups without their own."""
        rng, lr = rng_of(seed), oracle.default_rate(optimizer.rule.lr)
        start = normal(rng, [3]) * torch.tensor([0.0, 1.0, 1.0])  # from 0 every digit of a step is seen
        run = OptimizerRun([[start]], [[lr]] * 3, [[[from_tiny_to_large(rng, [3], powers=(-9, 2))]] for _ in range(3)])
        for wanted in optimizer.with_each(run):
            options = wanted.options[0] if wanted.options else {}
            grads = [grad for [[grad]] in wanted.grads]
            yours = student.call(optimizer.probes.defaults, wanted.params[0][0], grads, options)
            assert_run([[[p]] for p in yours], wanted, optimizer.rule)

    @costly
    @given(runs(groups=2, steps=3, absent=True), PICKS)
    def test_a_step_without_gradient_does_not_count(student: Student, run: OptimizerRun, picks: list[int]) -> None:
        """In a step without a gradient a parameter's memory stays as it is: only its own steps count, not others'."""
        check_plain_steps(student, optimizer, run)
        run = optimizer.equipped(run, picks)
        yours = student.call(optimizer.probes.run, run.params, run.lrs, run.grads, run.options)
        assert_run(yours, run, optimizer.rule)

    @costly
    @given(runs(groups=2, steps=2, dtypes=WIDE_DTYPES))
    def test_no_more_is_kept_than_the_rule_needs(student: Student, run: OptimizerRun) -> None:
        """The state holds no more tensors than the rule needs, in the parameter's dtype: memory limits large models."""
        kept = student.call(optimizer.probes.bytes_kept, run.params, run.lrs, run.grads)
        size = sum(p.nbytes for group in run.params for p in group)
        fits = oracle.is_needed(kept, {str(run.params[0][0].dtype): size}, optimizer.tensors)
        held, needed = sum(kept.values()), optimizer.tensors * size
        check(fits, f"for {size} bytes of parameters it keeps {held}; the rule needs {needed}")

    @costly
    @given(runs(groups=2, steps=3, changing=True, absent=True), PICKS)
    def test_it_goes_where_torchs_own_goes(student: Student, run: OptimizerRun, picks: list[int]) -> None:
        """With the same options, rates and gradients it goes where torch's own optimizer goes."""
        check_plain_steps(student, optimizer, run)
        run = optimizer.equipped(run, picks)
        theirs = run_of(optimizer.of_torch, run)
        assert_run(theirs, in_float64(run), optimizer.rule)  # torch makes no known mistake: none explains yours here
        yours = student.call(optimizer.probes.run, run.params, run.lrs, run.grads, run.options)
        assert_run(yours, run, optimizer.rule, expected=theirs)

    return {name: test for name, test in locals().items() if name.startswith("test_")}

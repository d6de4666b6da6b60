"""What every optimizer must do, whatever its rule."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from reference import optimizers as oracle
from tests.contracts import Contract
from tests.optimizer_runs import Rule, assert_run
from tests.strategies import SEEDS, WIDE_DTYPES, OptimizerRun, costly, from_tiny_to_large, normal, rng_of, runs
from torchkata import Student, assert_equal, check, precondition

LARGE_TOO = (-4.0, 6.0)  # powers of ten
BROKEN_BY_A_STEP = {
    "the same Parameter": "the parameter is another one after the step",
    "the same memory": "the parameter is given new memory instead of being changed in place",
    "a leaf that requires grad": "the parameter no longer requires grad after the step",
    "the same gradient": "p.grad is put away after the step, or is another tensor: zero_grad() is the user's to call",
    "no gradient where there was none": "a gradient that is None is filled with zeros",
    "autograd is on": "autograd stays off after the step",
}


@dataclass(frozen=True)
class Optimizer:
    """The probes of one optimizer, its rule in float64, and what its memory and its options are."""

    probes: ModuleType
    rule: Rule
    options: Sequence[dict[str, Any]] = ({},)  # each is one that a group may have of its own
    suited: Callable[[OptimizerRun], OptimizerRun] = lambda run: run  # what these options ask of a run
    tensors: int = 0  # of the parameter's size, as many as the rule needs
    of_torch: Callable[..., Any] | None = None  # torch's own optimizer

    def equipped(self, run: OptimizerRun, picks: Sequence[int]) -> OptimizerRun:
        """The run with options of its own for each group."""
        return replace(self.suited(run), options=[self.options[pick % len(self.options)] for pick in picks])

    def with_each(self, run: OptimizerRun) -> list[OptimizerRun]:
        """The run of one group without options, and with each of them."""
        return [run, *(self.equipped(run, [pick]) for pick, given in enumerate(self.options) if given)]


def check_plain_steps(student: Student, optimizer: Optimizer, run: OptimizerRun) -> None:
    """Demand the steps of the first group alone, at one rate and with all gradients, before what the test is about."""
    given = [next(step[0][i] for step in run.grads if step[0][i] is not None) for i in range(len(run.params[0]))]
    grads = [
        [[own if own is not None else other for own, other in zip(step[0], given, strict=True)]] for step in run.grads
    ]
    plain = OptimizerRun(run.params[:1], [run.lrs[0][:1]] * len(grads), grads, run.options[:1])
    options = [plain.options] if any(plain.options) else []
    yours = student.call(optimizer.probes.run, plain.params, plain.lrs, plain.grads, *options)
    with precondition(
        "already the steps of a single group at one rate are off: what this test is about comes after them"
    ):
        assert_run(yours, plain, optimizer.rule)


def check_in_place(student: Student, optimizer: Optimizer, run: OptimizerRun, transposed: bool) -> None:
    """Demand all that a step leaves alone, and the step itself."""
    params, grads, lr = run.params[0], run.grads[0][0], run.lrs[0][0]
    options = run.options[0] if run.options else {}
    reply = student.call(optimizer.probes.in_place, params, transposed, lr, grads, options)
    for fact, note in BROKEN_BY_A_STEP.items():
        check(reply[fact], mistake=note)
    left = [grad for grad in grads if grad is not None]
    assert_equal(reply["gradients"], left, what="grad", mistake="step() changed the gradients: they are read only")
    first = params[0].new_ones(2)  # it has no gradient
    with_first = OptimizerRun([[first, *params]], run.lrs, [[[None, *grads]]], run.options)
    assert_run([[[first, *reply["parameters"]]]], with_first, optimizer.rule)


def optimizer_contract(optimizer: Optimizer) -> Contract:
    """The tests of any optimizer."""

    @costly
    @given(runs(groups=2, steps=2, powers=LARGE_TOO))
    def test_every_group_moves_at_its_own_rate(student: Student, run: OptimizerRun) -> None:
        """Each parameter group moves at its own learning rate, 0 or not, a group that was added later, too."""
        check_plain_steps(student, optimizer, run)
        yours = student.call(optimizer.probes.run, run.params, run.lrs, run.grads)
        assert_run(yours, run, optimizer.rule)

    @costly
    @given(runs(groups=2, steps=3, changing=True))
    def test_a_changed_rate_counts_from_the_next_step(student: Student, run: OptimizerRun) -> None:
        """A learning rate that is changed between steps counts from the next step on."""
        check_plain_steps(student, optimizer, run)
        yours = student.call(optimizer.probes.run, run.params, run.lrs, run.grads)
        assert_run(yours, run, optimizer.rule)

    @costly
    @given(runs(groups=2, steps=2, absent=True))
    def test_parameters_without_gradient_stay(student: Student, run: OptimizerRun) -> None:
        """Only a parameter whose grad is None stays as it is; the others still move, NaN in their grad or not."""
        check_plain_steps(student, optimizer, run)
        yours = student.call(optimizer.probes.run, run.params, run.lrs, run.grads)
        assert_run(yours, run, optimizer.rule)
        ones = run.params[0][0].new_ones(2)
        [[[moved]]] = student.call(optimizer.probes.run, [[ones]], [[0.1]], [[[ones * math.nan]]])
        note = "a gradient of NaN is passed over or replaced: so nobody sees that a run has gone wrong"
        check(not moved.isfinite().any(), note, yours=moved, expected="NaN in the parameter, too")

    @costly
    @given(runs(dtypes=WIDE_DTYPES, matrix=True), st.booleans())
    def test_the_update_is_in_place(student: Student, run: OptimizerRun, transposed: bool) -> None:
        """A step is taken in place: same Parameter, same memory, outside autograd, and grad is left as it was."""
        check_plain_steps(student, optimizer, run)
        for each in optimizer.with_each(run):
            check_in_place(student, optimizer, each, transposed)

    @costly
    @given(SEEDS, st.sampled_from([0.5, 0.1, 2.0]))
    def test_a_scheduler_can_drive_it(student: Student, seed: int, gamma: float) -> None:
        """It is a torch.optim.Optimizer, so that a scheduler can change its learning rate."""
        rng, lr = rng_of(seed), 0.5
        param, grads = normal(rng, [3]), [from_tiny_to_large(rng, [3]) for _ in range(3)]
        run = OptimizerRun([[param]], [[lr * gamma**t] for t in range(3)], [[[grad]] for grad in grads])
        yours = student.call(optimizer.probes.scheduled, param, lr, gamma, grads)
        assert_run([[[p]] for p in yours], run, optimizer.rule)

    @costly
    @given(runs(groups=2))
    def test_loaded_rates_count(student: Student, run: OptimizerRun) -> None:
        """After load_state_dict() each parameter group moves at the learning rate that was loaded, not an old one."""
        check_plain_steps(student, optimizer, run)
        saved = run.lrs[0]
        own = [round(3 * lr, 9) for lr in saved]
        yours = student.call(optimizer.probes.loaded, run.params, saved, own, run.grads)
        assert_run(yours, replace(run, lrs=[[*oracle.rates_after_loading(saved, own)]]), optimizer.rule)

    return {name: test for name, test in locals().items() if name.startswith("test_")}


def rate_contract(optimizer: Optimizer) -> Contract:
    """The test of an optimizer whose rate is its only option."""

    @costly
    @given(SEEDS)
    def test_the_rate_has_a_default(student: Student, seed: int) -> None:
        """The learning rate is 0.01 unless given; a parameter group without its own takes the one given for all."""
        rng = rng_of(seed)
        param, grad = normal(rng, [2]), from_tiny_to_large(rng, [2])
        check_plain_steps(student, optimizer, OptimizerRun([[param]], [[0.3]], [[[grad]]]))
        for options, lr in zip(({}, {"lr": 0.3}), oracle.rates_without_own(optimizer.rule.lr, 0.3), strict=True):
            yours = student.call(optimizer.probes.defaults, param, [grad], options)
            assert_run([[yours]], OptimizerRun([[param]], [[lr]], [[[grad]]]), optimizer.rule)

    return {"test_the_rate_has_a_default": test_the_rate_has_a_default}

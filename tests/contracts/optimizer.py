"""Tests of what every optimizer has in common: in full for SGD and AdaGrad, which later katas only build on."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from reference import optimizers as oracle
from tests.contracts import Test
from tests.optimizer_runs import Rule, assert_run, copy_rule, follows_rule
from tests.probes import optimizers as probes
from tests.strategies import SEEDS, WIDE_DTYPES, OptimizerRun, costly, from_tiny_to_large, normal, rng_of, runs
from torchkata import Student, Text, assert_equal, check, precondition, same, show

UP_TO_LARGE = (-4.0, 6.0)  # powers of ten between which magnitudes are drawn
INVISIBLE = 1e-37  # an eps that no step shows even if it is added to the square of a gradient of 1e-12
FACTORS = st.sampled_from([0.5, 0.1, 2.0])  # factors by which a scheduler multiplies the learning rate
BROKEN_BY_A_STEP = {  # by the code that is True after a correct step
    "opt.param_groups[g]['params'][i] is p": Text("the parameter is a different object after the step"),
    "p.data_ptr() == address": Text("the parameter is moved to new memory instead of being changed in place"),
    "p.stride() == stride": Text("the parameter has other strides after the step"),
    "p.is_leaf and p.requires_grad": Text("the parameter no longer requires grad after the step"),
    "p.grad is grad": Text("p.grad is removed or replaced in the step: zero_grad() is for the user to call"),
    "torch.is_grad_enabled()": Text("autograd stays off after the step"),
}


@dataclass(frozen=True)
class Optimizer:
    """A student's optimizer class, with the properties that the tests need."""

    name: str  # module and class
    rule: Rule
    options: Sequence[dict[str, Any]] = ({},)  # each is a choice for a parameter group
    adapt: Callable[[OptimizerRun], OptimizerRun] = lambda run: run  # adapts a run to these options
    constant: dict[str, Any] = field(default_factory=dict)  # with these, an update depends only on lr and gradients
    tensors: int = 0  # number of tensors of the parameter's size in the state
    torch_class: Callable[..., Any] | None = None

    def choose_options(self, run: OptimizerRun, picks: Sequence[int]) -> OptimizerRun:
        """Return the run with the chosen options for each parameter group."""
        return replace(self.adapt(run), options=[self.options[pick % len(self.options)] for pick in picks])

    def make_constant(self, run: OptimizerRun) -> OptimizerRun:
        """Return the run with options for which an update is lr times a tensor that depends only on gradients."""
        return replace(run, options=[{**own, **self.constant} for own in run.options])

    def try_options(self, run: OptimizerRun) -> list[OptimizerRun]:
        """Return copies of a run with one parameter group: one without options, and one for each set of options."""
        return [run, *(self.choose_options(run, [pick]) for pick, given in enumerate(self.options) if given)]


def check_run(student: Student, optimizer: Optimizer, run: OptimizerRun, rule: Rule | None = None) -> None:
    """Assert that the parameters after each step match the rule."""
    yours = student.call(probes.run, optimizer.name, run.params, run.lrs, run.grads, run.options)
    assert_run(yours, run, rule or optimizer.rule)


def check_formula(student: Student, optimizer: Optimizer, run: OptimizerRun) -> None:
    """Assert that the parameters after each step match the rule, with a separate optimizer for each parameter."""
    yours = student.call(probes.run_alone, optimizer.name, run.params, run.lrs, run.grads, run.options)
    assert_run(yours, run, optimizer.rule, alone=True)


def check_eps(student: Student, optimizer: Optimizer, run: OptimizerRun) -> None:
    """Assert that the parameters after each step match the rule, if they do so without a noticeable eps."""
    without = replace(run, options=[{**own, "eps": INVISIBLE} for own in run.options])
    with precondition(Text("the steps are already wrong if eps is tiny: start with these")):
        check_formula(student, optimizer, without)
    check_formula(student, optimizer, run)


def find_rule(student: Student, optimizer: Optimizer, run: OptimizerRun) -> Rule:
    """Return the optimizer's rule, or the rule that the student's steps follow if it is a different one.

    A wrong formula then fails only the tests of the formula. To find the student's rule, take steps with one optimizer
    per parameter, using the parameter's gradients in order and its group's largest learning rate (0.1 if this is 0).
    The updates are then only scaled down, so that their rounding errors do not grow.
    """
    steps = len(run.grads)
    own = [
        [
            fill([grad for grad in (step[g][i] for step in run.grads) if grad is not None], steps)
            for i in range(len(group))
        ]
        for g, group in enumerate(run.params)
    ]
    grads: list[list[list[Tensor | None]]] = [[[each[t] for each in group] for group in own] for t in range(steps)]
    rates, options = [max(each) or 0.1 for each in zip(*run.lrs, strict=True)], run.options or [{}] * len(run.params)
    alone = OptimizerRun(run.params, [rates] * steps, grads, options)
    yours = student.call(probes.run_alone, optimizer.name, run.params, alone.lrs, grads, options)
    pairs = [(p, yours[-1][g][i]) for g, group in enumerate(run.params) for i, p in enumerate(group)]
    with precondition(Text("the steps of a single parameter at one learning rate are already wrong: start with these")):
        for p, end in pairs:
            is_form_right = isinstance(end, Tensor) and (end.shape, end.dtype) == (p.shape, p.dtype)
            check(
                is_form_right and bool(end.isfinite().all()),
                yours=end,
                expected=Text("finite numbers in p's shape and dtype"),
            )
        if follows_rule(yours, alone, optimizer.rule):
            return optimizer.rule
        check(
            any(bool((p != end).any()) for p, end in pairs),
            yours=Text("no parameter is updated"),
            expected=Text("a step"),
        )
    return copy_rule(yours, alone, optimizer.rule)


def fill(grads: list[Tensor], steps: int) -> list[Tensor]:
    """Repeat the last gradient until there is one for each step."""
    return grads + grads[-1:] * (steps - len(grads))


def check_in_place(student: Student, optimizer: Optimizer, run: OptimizerRun, transposed: bool) -> None:
    """Assert that a step is correct and changes nothing except the values of the parameters."""
    rule = find_rule(student, optimizer, run)
    params, grads, lr = run.params[0], run.grads[0][0], run.lrs[0][0]
    reply = student.call(probes.step_in_place, optimizer.name, params, transposed, lr, grads)
    check_nothing_else_changed(reply, grads)
    assert_run([[reply["parameters"]]], run, rule)


def check_nothing_else_changed(reply: dict[str, Any], grads: Sequence[Tensor | None]) -> None:
    """Assert that a step has changed the parameters in place, and has only read these gradients."""
    for fact, note in BROKEN_BY_A_STEP.items():
        check(reply[fact], mistake=note, yours=f"{fact}: False", expected=f"{fact}: True")
    left = [grad for grad in grads if grad is not None]
    assert_equal(
        reply["gradients"], left, what="grad", mistake=Text("step() modified the gradients, which it should only read")
    )


def check_zero_rate(student: Student, optimizer: Optimizer) -> None:
    """Assert that the constructor accepts a learning rate of 0."""
    error = student.call(probes.refused, optimizer.name, {"lr": 0.0})
    note = Text("a learning rate of 0 is rejected, but it is valid, for example in a warm-up that starts at 0")
    check(error == "", mistake=note, yours=Text("{error} is raised", error=error), expected=Text("no error"))


def check_none_and_nan(student: Student, optimizer: Optimizer) -> None:
    """Assert that a gradient of None stays None, and that all other gradients are applied."""
    reply = student.call(probes.step_on_nan, optimizer.name)
    note, yours = Text("a gradient that is None is filled with zeros"), "without.grad is None: False"
    check(not reply["filled"], mistake=note, yours=yours, expected="without.grad is None: True")
    check_applied(reply)


def check_applied(reply: dict[str, Any]) -> None:
    """Assert that a gradient of NaN has made the parameter NaN, and that a frozen parameter's gradient is applied."""
    note = Text("a NaN gradient is skipped or replaced, which hides that the run has gone wrong")
    check(not reply["p"].isfinite().any(), note, yours=reply["p"], expected=Text("NaN in the parameter"))
    frozen, other = reply["frozen"], reply["other"]
    note = Text("a parameter with requires_grad=False requires grad after the step")
    check(
        reply["stays frozen"], mistake=note, yours="frozen.requires_grad: True", expected="frozen.requires_grad: False"
    )
    note = Text(
        "a parameter with requires_grad=False is not updated like the others: skip only those whose grad is None"
    )
    check(same(frozen, other), mistake=note, yours=frozen, expected=Text("like the others: {value}", value=show(other)))


def check_scheduler(student: Student, optimizer: Optimizer, run: OptimizerRun, gamma: float) -> None:
    """Assert that the steps use the learning rates that a scheduler sets, starting with the run's first ones."""
    first = run.lrs[0]
    run = replace(run, lrs=[[lr * factor for lr in first] for factor in (1.0, 0.0, gamma)])
    rule = find_rule(student, optimizer, run)
    name, params, grads, options = optimizer.name, run.params, run.grads, run.options
    yours = student.call(probes.run_with_scheduler, name, params, first, gamma, grads, options)
    assert_run(yours, run, rule)


def draw_scheduled_run(seed: int) -> OptimizerRun:
    """Return three steps of one parameter for `check_scheduler`."""
    rng = rng_of(seed)
    return OptimizerRun([[normal(rng, [2, 2])]], [[0.5]], [[[from_tiny_to_large(rng, [2, 2])]] for _ in range(3)])


def check_loading(student: Student, optimizer: Optimizer, run: OptimizerRun) -> None:
    """Assert that a step uses the learning rates that load_state_dict() has loaded."""
    saved = run.lrs[0]
    own = [round(3 * lr, 9) for lr in saved]
    changed = replace(run, lrs=[own, saved], grads=run.grads * 2)
    rule = find_rule(student, optimizer, changed)
    with precondition(Text("a step is already wrong after a changed lr or for a second group")):
        check_run(student, optimizer, changed, rule)
    yours = student.call(probes.step_after_loading, optimizer.name, run.params, saved, own, run.grads)
    assert_run(yours, replace(run, lrs=[[*oracle.hook_loaded_rates(saved, own)]]), rule)


def step_updates_in_place(optimizer: Optimizer) -> Test:
    """Return the test that a step updates parameters in place and changes nothing else."""

    @costly
    @given(runs(dtypes=WIDE_DTYPES), st.booleans())
    def test_step_updates_in_place(student: Student, run: OptimizerRun, transposed: bool) -> None:
        """A step follows the formula in place: p keeps its memory, and nothing else changes, such as grad."""
        check_in_place(student, optimizer, run, transposed)

    return test_step_updates_in_place


def each_group_uses_its_own_lr(optimizer: Optimizer) -> Test:
    """Return the test of the learning rates of parameter groups."""

    @costly
    @given(runs(groups=2, steps=2, powers=UP_TO_LARGE, own_rates=True))
    def test_each_group_uses_its_own_lr(student: Student, run: OptimizerRun) -> None:
        """Each parameter is updated with its group's own lr, even if this is 0 or the group was added later."""
        check_zero_rate(student, optimizer)
        check_run(student, optimizer, run, find_rule(student, optimizer, run))

    return test_each_group_uses_its_own_lr


def changed_lr_applies_from_the_next_step(optimizer: Optimizer) -> Test:
    """Return the test of a learning rate that changes between steps."""

    @costly
    @given(runs(groups=2, steps=3, changing=True, own_rates=True))
    def test_changed_lr_applies_from_the_next_step(student: Student, run: OptimizerRun) -> None:
        """Each step uses each group's current lr, even if it was changed after the previous step."""
        check_run(student, optimizer, run, find_rule(student, optimizer, run))

    return test_changed_lr_applies_from_the_next_step


def only_parameters_without_grad_are_skipped(optimizer: Optimizer) -> Test:
    """Return the test of gradients that are None or contain NaN."""

    @costly
    @given(runs(groups=2, steps=3, absent=True))
    def test_only_parameters_without_grad_are_skipped(student: Student, run: OptimizerRun) -> None:
        """A step skips exactly the parameters whose grad is None, not NaN, and leaves grad and requires_grad alone."""
        check_run(student, optimizer, run, find_rule(student, optimizer, run))
        check_none_and_nan(student, optimizer)

    return test_only_parameters_without_grad_are_skipped


def scheduler_can_change_lr(optimizer: Optimizer) -> Test:
    """Return the test of a scheduler."""

    @costly
    @given(SEEDS, FACTORS)
    def test_scheduler_can_change_lr(student: Student, seed: int, gamma: float) -> None:
        """Each step uses the learning rate that a torch scheduler has set, even if this is 0."""
        check_scheduler(student, optimizer, draw_scheduled_run(seed), gamma)

    return test_scheduler_can_change_lr


def loaded_lr_is_used(optimizer: Optimizer) -> Test:
    """Return the test of learning rates that are loaded."""

    @costly
    @given(runs(groups=2))
    def test_loaded_lr_is_used(student: Student, run: OptimizerRun) -> None:
        """After load_state_dict(), each parameter group uses the loaded learning rate."""
        check_loading(student, optimizer, run)

    return test_loaded_lr_is_used


def groups_and_rates_work_as_in_sgd(optimizer: Optimizer) -> Test:
    """Return a test that replaces those of groups and rates, for the optimizer that students write after SGD."""

    @costly
    @given(runs(groups=2, steps=3, changing=True, absent=True, own_rates=True), SEEDS, FACTORS)
    def test_groups_and_rates_work_as_in_sgd(student: Student, run: OptimizerRun, seed: int, gamma: float) -> None:
        """A step treats gradients (even None and NaN) and the learning rates of groups (even 0) as your SGD does."""
        check_zero_rate(student, optimizer)
        check_run(student, optimizer, run, find_rule(student, optimizer, run))
        check_none_and_nan(student, optimizer)
        check_scheduler(student, optimizer, draw_scheduled_run(seed), gamma)

    return test_groups_and_rates_work_as_in_sgd


def lr_has_a_default(optimizer: Optimizer) -> Test:
    """Return the test for optimizers whose only option is the learning rate."""

    @costly
    @given(SEEDS)
    def test_lr_has_a_default(student: Student, seed: int) -> None:
        """lr defaults to 0.01, and a parameter group without its own lr uses the constructor's, even if that is 0."""
        rng = rng_of(seed)
        param, grad = normal(rng, [2]), from_tiny_to_large(rng, [2])
        rule, default = find_rule(student, optimizer, OptimizerRun([[param]], [[0.3]], [[[grad]]])), optimizer.rule.lr
        rates = *oracle.get_group_rates(default, 0.3), oracle.get_group_rates(default, 0.0)[1]
        for options, lr in zip(({}, {"lr": 0.3}, {"lr": 0.0}), rates, strict=True):
            yours = student.call(probes.run_with_defaults, optimizer.name, param, [grad], options)
            assert_run([[yours]], OptimizerRun([[param]], [[lr]], [[[grad]]]), rule)

    return test_lr_has_a_default

"""accumulate_gradients: the gradients of a batch, one micro-batch at a time."""

from dataclasses import dataclass, replace

from hypothesis import given
from hypothesis import strategies as st
from numpy import ndarray as Array
from torch import Tensor

from reference.gradient_accumulation import oracle
from tests.losses import assert_loss
from tests.own_answers import holds
from tests.probes import gradient_accumulation as probes
from tests.strategies import SEEDS, DeepCase, deep_cases, normal, rng_of
from torchkata import Plain, Student, Text, as_float64, assert_close, assert_equal, check, require

GRAD = "loss.requires_grad"
ATTACHED = Text("the returned loss is still attached to its graph, which then stays in memory: detach() it")


@dataclass(frozen=True)
class Task:
    """A model, a batch with targets `case.grad_y`, the existing gradients, and the number of rows in a micro-batch."""

    case: DeepCase
    before: list[Tensor | None]
    micro_batch_size: int


@st.composite
def tasks(draw: st.DrawFn, *, uneven: bool = False, existing: bool = False) -> Task:
    """Draw two to four micro-batches of several rows. If `uneven`, the last one is smaller."""
    micro_batch_size = draw(st.integers(2, 4))
    last = draw(st.integers(1, micro_batch_size - 1)) if uneven else micro_batch_size
    case = draw(deep_cases(batch=st.just(draw(st.integers(1, 3)) * micro_batch_size + last)))
    rng = rng_of(draw(SEEDS))
    return Task(case, [normal(rng, [*weight.shape]) if existing else None for weight in case.weights], micro_batch_size)


@st.composite
def extreme_tasks(draw: st.DrawFn) -> Task:
    """Draw micro-batches of one row, of the whole batch, or larger than the batch."""
    case = draw(deep_cases(batch=st.integers(1, 5)))
    return Task(case, [None] * len(case.weights), draw(st.sampled_from([1, len(case.x), len(case.x) + 1, 1000])))


def run(student: Student, task: Task, frozen: int | None = None) -> Plain:
    """Return the reply of the probe for a task."""
    case = task.case
    return student.call(
        probes.accumulate, case.weights, task.before, case.x, case.grad_y, task.micro_batch_size, frozen
    )


def accumulate(task: Task, worst: bool = False) -> tuple[float, list[Plain]]:
    """Return the loss and the gradients in float64. If `worst`, use absolute values so that no terms cancel."""
    weights = [as_float64(weight) for weight in task.case.weights]
    pairs = zip(weights, task.before, strict=True)
    given = [0 * weight if grad is None else as_float64(grad) for weight, grad in pairs]
    x, y = as_float64(task.case.x), as_float64(task.case.grad_y)
    if worst:
        weights, given, x, y = [abs(weight) for weight in weights], [abs(grad) for grad in given], abs(x), -abs(y)
    loss, grads = oracle.accumulate(weights, given, x, y, task.micro_batch_size)
    return loss, [abs(grad) for grad in grads] if worst else grads


def count_roundings(task: Task) -> int:
    """Return the number of allowed rounding errors."""
    parts = -(-len(task.case.x) // task.micro_batch_size)
    return 8 * (len(task.case.weights) + parts + 1)


def check_gradients(reply: Plain, task: Task, own: list[Array] | None = None) -> None:
    """Check that the correct gradients, or the student's `own`, were added to the existing ones."""
    (_, exact), (_, scales) = accumulate(task), accumulate(task, worst=True)
    for i, (grad, scale) in enumerate(zip(own or exact, scales, strict=True)):
        what = Text("gradient of weight {i}", i=i)
        what = Text("{what} (expected: the old one plus yours without an old one)", what=what) if own else what
        assert_close(reply["gradients"][i], grad, scale=scale, roundings=count_roundings(task), what=what)


def check_like_plain_call(student: Student, task: Task, plain: Task) -> None:
    """Check the gradients. If a `plain` call computes wrong gradients, expect that the same gradients were added."""
    plain_reply = run(student, plain)
    reply = run(student, task)
    if holds(check_gradients, plain_reply, plain) or holds(check_gradients, reply, task):
        check_gradients(reply, task)
        return
    own = plain_reply["gradients"]
    are_tensors = all(isinstance(grad, Tensor) and grad.is_floating_point() for grad in own)
    require(are_tensors, Text("not every weight has a gradient"), yours=own)
    added = [
        as_float64(grad) + (0 if one is None else as_float64(one)) for grad, one in zip(own, task.before, strict=True)
    ]
    check_gradients(reply, task, added)


@given(tasks())
def test_grads_match_full_batch(student: Student, task: Task) -> None:
    """If all micro-batches have the same size, the gradients are those of the mean over the whole batch."""
    check_gradients(run(student, task), task)


@given(tasks(uneven=True))
def test_micro_batches_are_weighted_by_rows(student: Student, task: Task) -> None:
    """If the last micro-batch is smaller, the gradients are those of the mean over all rows, each with equal weight."""
    check_gradients(run(student, task), task)


@given(extreme_tasks())
def test_extreme_micro_batch_sizes_are_supported(student: Student, task: Task) -> None:
    """The gradients are right for micro-batches of one row or larger than the batch, and for batches of one row."""
    check_gradients(run(student, task), task)


@given(tasks(existing=True))
def test_grads_are_added_to_existing_grads(student: Student, task: Task) -> None:
    """The new gradients are added to those already in p.grad, as in backward()."""
    check_like_plain_call(student, task, replace(task, before=[None] * len(task.before)))


@given(tasks(uneven=True) | extreme_tasks())
def test_loss_is_the_mean_over_the_batch(student: Student, task: Task) -> None:
    """The loss is one number, the batch's mean squared error. Loss and gradients are detached from the graph."""
    reply = run(student, task)
    (exact, _), (scale, _) = accumulate(task), accumulate(task, worst=True)
    assert_loss(reply["loss"], exact, scale=scale, roundings=count_roundings(task))
    check(not reply["attached"]["loss"], mistake=ATTACHED, yours=f"{GRAD}: True", expected=f"{GRAD}: False")
    note = Text("the gradients have a graph, as after backward(create_graph=True)")
    check(not reply["attached"]["gradients"], mistake=note)


@given(tasks(uneven=True) | tasks() | extreme_tasks())
def test_model_sees_each_row_once(student: Student, task: Task) -> None:
    """The model sees every row once, in as few micro-batches of at most micro_batch_size rows as possible."""
    rows = run(student, task)["rows"]
    expected = oracle.list_call_sizes(len(task.case.x), task.micro_batch_size)
    few = Text(
        "calls: {count}, each with a number of rows of at most {rows}", count=len(expected), rows=task.micro_batch_size
    )
    too_many, extra = (
        Text("the model is called with too many rows"),
        Text("there are more micro-batches than necessary"),
    )
    check(max(rows, default=0) <= max(expected), mistake=too_many, yours=rows, expected=few)
    check(sum(rows) == sum(expected), Text("the model should see each row exactly once"), yours=rows, expected=few)
    check(len(rows) == len(expected), mistake=extra, yours=rows, expected=few)


def test_activations_are_freed_after_each_micro_batch(student: Student, seed: int) -> None:
    """Activations are freed after each micro-batch, so eight micro-batches need no more peak memory than one."""
    rng = rng_of(seed)
    dim, rows, micro_batch_size = 4, 24, 3
    weights = [normal(rng, [dim, dim]) / 2 for _ in range(12)] + [normal(rng, [dim, 1])]
    peaks = student.call(probes.measure_peaks, weights, normal(rng, [rows, dim]), normal(rng, [rows]), micro_batch_size)
    whole, single = peaks["whole batch"], peaks["one micro-batch"]
    check(
        whole <= 3 * single,  # allows one or two copies
        mistake=Text(
            "the whole batch needs much more memory than one micro-batch: are the activations of several in "
            "memory at the same time?"
        ),
        yours=Text("{bytes} bytes", bytes=whole),
        expected=Text("about {bytes} bytes at the peak, as for one micro-batch alone", bytes=single),
    )


@given(tasks(uneven=True).filter(lambda task: len(task.case.weights) > 1))
def test_only_grads_change(student: Student, task: Task) -> None:
    """The weights, the batch and model.training are not changed, and a frozen parameter receives no gradient."""
    reply = run(student, task, frozen=0)
    case = task.case
    given = {"weights": case.weights, "x": case.x, "y": case.grad_y, "model.training": False}
    notes = {"weights": Text("the weights are changed: leave the update to the optimizer")}
    for name, value in given.items():
        assert_equal(
            reply["left alone"][name], value, what=name, mistake=notes.get(name, Text("{name} is changed", name=name))
        )
    mode, name = run(student, task)["left alone"]["model.training"], "model.training"
    assert_equal(mode, True, what=name, mistake=Text("{name} is changed", name=name))
    note = Text("a frozen parameter (requires_grad=False) gets a gradient")
    assert_equal(reply["gradients"][0], None, what=Text("gradient of the frozen weight 0"), mistake=note)

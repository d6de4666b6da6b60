"""accumulate_gradients: the gradients of a batch, one micro-batch at a time."""

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from reference.gradient_accumulation import oracle
from tests.losses import assert_loss
from tests.probes import gradient_accumulation as probes
from tests.strategies import SEEDS, DeepCase, deep_cases, normal, rng_of
from torchkata import Plain, Student, as_float64, assert_close, assert_equal, check

ATTACHED = "the loss still has its graph, which stays in memory as long as the loss does: detach() it"


@dataclass(frozen=True)
class Task:
    """A model, a batch (`case.grad_y` are its targets), the gradients before, and the rows of a micro-batch."""

    case: DeepCase
    before: list[Tensor]
    micro_batch_size: int


@st.composite
def tasks(draw: st.DrawFn, *, uneven: bool = False) -> Task:
    """Two to four micro-batches of several rows, the last one smaller if `uneven`."""
    micro_batch_size = draw(st.integers(2, 4))
    last = draw(st.integers(1, micro_batch_size - 1)) if uneven else micro_batch_size
    case = draw(deep_cases(batch=st.just(draw(st.integers(1, 3)) * micro_batch_size + last)))
    rng = rng_of(draw(SEEDS))
    return Task(case, [normal(rng, list(weight.shape)) for weight in case.weights], micro_batch_size)


@st.composite
def extreme_tasks(draw: st.DrawFn) -> Task:
    """Micro-batches of one row, of the whole batch, and larger than the batch."""
    case = draw(deep_cases(batch=st.integers(1, 5)))
    return Task(case, [], draw(st.sampled_from([1, len(case.x), len(case.x) + 1, 1000])))


def call(student: Student, task: Task, before: list[Tensor | None], frozen: int | None = None) -> Plain:
    """What came of this task."""
    case = task.case
    return student.call(probes.accumulated, case.weights, before, case.x, case.grad_y, task.micro_batch_size, frozen)


def accumulate(task: Task, before: list[Tensor | None], worst: bool = False) -> tuple[float, list[Plain]]:
    """Loss and gradients in float64; the `worst`, where no term cancels another, are the size of all that is summed."""
    weights = [as_float64(weight) for weight in task.case.weights]
    pairs = zip(weights, before, strict=True)
    given = [0 * weight if grad is None else as_float64(grad) for weight, grad in pairs]
    x, y = as_float64(task.case.x), as_float64(task.case.grad_y)
    if worst:
        weights, given, x, y = [abs(weight) for weight in weights], [abs(grad) for grad in given], abs(x), -abs(y)
    loss, grads = oracle.accumulate(weights, given, x, y, task.micro_batch_size)
    return loss, [abs(grad) for grad in grads] if worst else grads


def roundings(task: Task) -> int:
    """As many as the layers and the micro-batches make."""
    parts = -(-len(task.case.x) // task.micro_batch_size)
    return 8 * (len(task.case.weights) + parts + 1)


def check_gradients(reply: Plain, task: Task, before: list[Tensor | None]) -> None:
    """Demand those of the whole batch, added to what was there before."""
    (_, exact), (_, scales) = accumulate(task, before), accumulate(task, before, worst=True)
    for i, (grad, scale) in enumerate(zip(exact, scales, strict=True)):
        what = f"gradient of weight {i}"
        assert_close(reply["gradients"][i], grad, scale=scale, roundings=roundings(task), what=what)


def nothing(task: Task) -> list[Tensor | None]:
    """No gradients before."""
    return [None for _ in task.case.weights]


@given(tasks())
def test_gradients_are_those_of_the_whole_batch(student: Student, task: Task) -> None:
    """Gradient accumulation over micro-batches of equal size leaves the gradients of the whole batch at once."""
    check_gradients(call(student, task, nothing(task)), task, nothing(task))


@given(tasks(uneven=True))
def test_a_smaller_last_micro_batch_counts_by_its_rows(student: Student, task: Task) -> None:
    """Where the last micro-batch is smaller, each counts by its share of the rows."""
    check_gradients(call(student, task, nothing(task)), task, nothing(task))


@given(extreme_tasks())
def test_single_rows_and_single_micro_batches(student: Student, task: Task) -> None:
    """A batch of one row, micro-batches of one row, and a micro-batch that is larger than the batch."""
    reply = call(student, task, nothing(task))
    check_gradients(reply, task, nothing(task))
    check(not reply["attached"]["loss"], mistake=ATTACHED)


@given(tasks(uneven=True))
def test_gradients_that_were_there_are_added_to(student: Student, task: Task) -> None:
    """Gradients that were in p.grad before are added to, as backward() does."""
    check_gradients(call(student, task, [*task.before]), task, [*task.before])


@given(tasks(uneven=True))
def test_the_loss_is_that_of_the_whole_batch(student: Student, task: Task) -> None:
    """What comes back is the mean squared error over the whole batch; neither it nor a gradient has a graph."""
    reply = call(student, task, nothing(task))
    (exact, _), (scale, _) = accumulate(task, nothing(task)), accumulate(task, nothing(task), worst=True)
    assert_loss(reply["loss"], exact, scale=scale, roundings=roundings(task))
    check(not reply["attached"]["loss"], mistake=ATTACHED)
    note = "the gradients have a graph of their own: create_graph=True asks for it"
    check(not reply["attached"]["gradients"], mistake=note)


@given(tasks(uneven=True) | tasks() | extreme_tasks())
def test_the_model_sees_each_row_once(student: Student, task: Task) -> None:
    """The model is called once for each micro-batch, with at most micro_batch_size rows, and every row goes in once."""
    rows = call(student, task, nothing(task))["rows"]
    expected = oracle.called_with(len(task.case.x), task.micro_batch_size)
    few = f"{len(expected)} calls of at most {task.micro_batch_size} rows"
    check(max(rows, default=0) <= max(expected), mistake="the model is given too many rows", yours=rows, expected=few)
    check(sum(rows) == sum(expected), "each row should go through the model once", yours=rows, expected=few)
    check(len(rows) == len(expected), mistake="there are more micro-batches than needed", yours=rows, expected=few)


def test_one_micro_batch_of_activations_is_alive_at_a_time(student: Student, seed: int) -> None:
    """Activations live as long as their micro-batch: of eight, no more are alive at once than of one."""
    rng = rng_of(seed)
    dim, rows, micro_batch_size = 4, 24, 3
    weights = [normal(rng, [dim, dim]) / 2 for _ in range(12)] + [normal(rng, [dim, 1])]
    peaks = student.call(probes.peaks, weights, normal(rng, [rows, dim]), normal(rng, [rows]), micro_batch_size)
    whole, single = peaks["whole batch"], peaks["one micro-batch"]
    check(
        whole <= 3 * single,  # a copy or two are nobody's mistake
        mistake="activations of several micro-batches are alive at once",
        yours=whole,
        expected=f"about {single} bytes at the peak, as for one micro-batch alone",
    )


@given(tasks(uneven=True).filter(lambda task: len(task.case.weights) > 1))
def test_nothing_but_the_gradients_changes(student: Student, task: Task) -> None:
    """Weights and batch stay as they are, and a parameter that needs no gradient gets none."""
    reply = call(student, task, nothing(task), frozen=0)
    case = task.case
    given = {"weights": case.weights, "x": case.x, "y": case.grad_y, "model.training": False}
    notes = {"weights": "the weights are changed: the step is the optimizer's to take"}
    for name, value in given.items():
        assert_equal(reply["left alone"][name], value, what=name, mistake=notes.get(name, f"{name} is changed"))
    note = "a parameter that needs no gradient gets one: frozen ones should stay so"
    assert_equal(reply["gradients"][0], None, what="gradient of weight 0, which needs none", mistake=note)

"""train: the loop that fits a Cruncher."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from reference.cruncher.oracle import forward
from reference.train import oracle
from tests.own_answers import holds
from tests.probes import train as probes
from tests.strategies import SEEDS, Lesson, costly, deep_weights, lessons, normal, rng_of
from torchkata import (
    Plain,
    Student,
    Text,
    as_float64,
    asking,
    assert_close,
    assert_equal,
    check,
    precondition,
    require,
    same,
)

train_scale = oracle.train  # for terms that cannot cancel; mistakes do not replace these
FEWER = Text("there are fewer losses than steps: a step or its loss is missing")
MORE = Text("there are more losses than steps")
ARRAY = Text("the losses are a NumPy array: return a tensor or a list of numbers")
CHAIN = 2**10  # roundings by which steps in one run may differ from the same steps in separate runs
STEPS = 24  # enough to detect a learning rate that changes every ten or twenty steps
OVERFLOWING = 1e20  # its square is infinite in float32, but its gradient is not
SKIPPED = Text("a step with an infinite loss and a finite gradient does not change the weights: take every step")
RATES = st.sampled_from([0.01, 0.05, 0.0])
DIFFERS = Text(
    "the initial weights differ from those of a new Cruncher: build it first, set no seed, and leave its weights alone"
)


def loss_values(losses: Plain, count: int, demand: Callable[..., None] = require) -> list[float]:
    """Return the losses as floats, from a tensor or a list. Set `demand` to `check` in tests of their format."""
    form, length = Text("as many numbers as steps: {count}", count=count), count_losses(losses)
    seen = "" if length is None else FEWER if length < count else MORE
    seen = ARRAY if isinstance(losses, np.ndarray) else seen
    demand(length == count, Text("the losses should be one number per step"), mistake=seen, yours=losses, expected=form)
    values = losses.tolist() if isinstance(losses, Tensor) else [v.item() if is_scalar(v) else v for v in losses]
    demand(
        all(type(value) is float for value in values), Text("the losses should be numbers"), yours=losses, expected=form
    )
    return list(values)


def count_losses(losses: Plain) -> int | None:
    """Return the number of losses in a list or one-dimensional tensor, or None for anything else."""
    if isinstance(losses, Tensor):
        return losses.shape[0] if losses.ndim == 1 else None
    return len(losses) if isinstance(losses, list) else None


def is_scalar(value: Plain) -> bool:
    """Return whether `value` is a tensor without dimensions."""
    return isinstance(value, Tensor) and value.ndim == 0


def run(student: Student, lesson: Lesson, lr: float) -> Plain:
    """Train on the batches of `lesson`, starting from its weights."""
    return student.call(probes.run, lesson.weights, lesson.rows, lr, lesson.xs, lesson.ys)


def check_run(student: Student, lesson: Lesson, lr: float) -> None:
    """Compare losses and weights with gradient descent in float64."""
    compare_run(run(student, lesson, lr), lesson, lr)


def check_steps(student: Student, lesson: Lesson, lr: float) -> bool:
    """Compare the losses and weights of a run with gradient descent. Return whether the student's steps are correct.

    If single steps are already wrong, compare the run with them instead, because another test reports their mistake.
    """
    weights, follows = lesson.weights, True
    losses: list[float] = []
    for x, y in zip(lesson.xs, lesson.ys, strict=True):
        step = replace(lesson, weights=weights, xs=[x], ys=[y])
        reply = run(student, step, lr)
        follows = follows and is_right(reply, step, lr)
        weights = reply["weights"]
        own = reply["losses"]
        losses += own.flatten().tolist() if isinstance(own, Tensor) else loss_values(own, 1)
    whole = run(student, lesson, lr)
    if follows or (lr and same(weights, lesson.weights)):
        compare_run(whole, lesson, lr)
        return True
    yours = loss_values(whole["losses"], len(losses))
    for i, (a, b) in enumerate(zip(yours, losses, strict=True)):
        loss = torch.tensor(a, dtype=torch.float32)
        assert_close(loss, b, scale=abs(b) + 1, roundings=CHAIN, what=Text("loss of step {i}", i=i + 1))
    for i, (end, own) in enumerate(zip(whole["weights"], weights, strict=True)):
        exact = as_float64(own)
        what = Text("weight {i} after {count} steps", i=i, count=len(losses))
        assert_close(end, exact, scale=abs(exact) + 1, roundings=CHAIN, what=what)
    return False


def is_right(reply: Plain, lesson: Lesson, lr: float) -> bool:
    """Return whether the losses and the weights match the results of gradient descent."""
    try:
        compare_run(reply, lesson, lr)
    except AssertionError:
        return False
    return True


def compare_run(reply: Plain, lesson: Lesson, lr: float) -> None:
    """Compare losses and weights with gradient descent in float64."""
    start = [as_float64(w) for w in lesson.weights]
    batches = [(as_float64(x), as_float64(y)) for x, y in zip(lesson.xs, lesson.ys, strict=True)]
    weights, losses = oracle.train(start, batches, lr)
    worst = [(abs(x), -abs(y)) for x, y in batches]  # with these signs, no terms cancel
    weight_scales, loss_scales = train_scale([abs(w) for w in start], worst, -lr)
    roundings = 8 * (len(batches) + 1) * (len(start) + 1)
    yours = loss_values(reply["losses"], len(losses), check)

    def compare_weights() -> None:
        for i, (exact, scale) in enumerate(zip(weights, weight_scales, strict=True)):
            what = Text("weight {i} after {count} steps", i=i, count=len(batches))
            assert_close(reply["weights"][i], exact, scale=scale, roundings=roundings, what=what)

    what = Text("losses (the weights are right)") if holds(compare_weights) else Text("losses")
    assert_close(torch.tensor(yours), np.array(losses), scale=np.array(loss_scales), roundings=roundings, what=what)
    compare_weights()


@costly
@given(lessons(steps=st.integers(1, 1), num_layers=st.integers(0, 3)))
def test_one_step_follows_gradient_of_mean_squared_error(student: Student, lesson: Lesson) -> None:
    """A step subtracts lr * gradient of the mean squared error and returns the loss before it in a list or tensor."""
    check_run(student, lesson, 0.01)  # SGD's default


@costly
@given(lessons(steps=st.integers(1, 5), num_layers=st.integers(0, 2)))
def test_each_step_gets_one_batch(student: Student, lesson: Lesson) -> None:
    """get_batch(B=B) is called once for each of num_train_steps steps, even after an infinite loss."""
    diverging = replace(lesson, ys=[lesson.ys[0] + math.inf, *lesson.ys[1:]])
    infinite = Text("the loss of the first step is infinite here; the following steps should still be taken")
    expected = oracle.asked(lesson.rows, len(lesson.weights[-1]), len(lesson.xs))
    for given_batches, note in ((lesson, ""), (diverging, infinite)):
        asked = run(student, given_batches, 0.01)["asked"]
        with asking(probes.typed_train(lesson.weights, len(lesson.xs), "zip(xs, ys)", counts=True)):
            assert_equal(asked, expected, what=Text("the requested batch sizes"), note=note)


@costly
@given(lessons(steps=st.integers(2, 5), num_layers=st.integers(0, 2)), RATES)
def test_gradients_are_zeroed_between_steps(student: Student, lesson: Lesson, lr: float) -> None:
    """Each of several steps subtracts lr times the gradient of its own batch, and the loss before it is returned."""
    check_steps(student, lesson, lr)


@costly
@given(lessons(steps=st.integers(2, 4), num_layers=st.integers(0, 2)), st.sampled_from([0.0, 7e-4, 7e-4, 1e-2, 0.1]))
def test_no_step_is_skipped(student: Student, lesson: Lesson, error: float) -> None:
    """Every step is taken and its loss returned, even if the loss is small, 0 or infinite."""
    with precondition(Text("the losses or weights are already wrong when no loss is small")):
        follows = check_steps(student, lesson, 0.01)
    weights = [torch.round(4 * w) / 4 for w in lesson.weights]
    first = torch.round(lesson.xs[0])  # multiples of 1/4 and integers make the first predictions exact
    target = torch.from_numpy(forward([as_float64(w) for w in weights], as_float64(first))) + error
    ys = [target.to(torch.float32), *lesson.ys[1:]]
    small = replace(lesson, weights=weights, xs=[first, *lesson.xs[1:]], ys=ys)
    if follows:
        check_run(student, small, 0.01)
    else:
        check(
            not same(run(student, small, 0.01)["weights"], weights),
            Text("the weights stay as they are"),
            expected=Text("a step"),
        )
        return
    steep = replace(lesson, xs=lesson.xs[:1], ys=[torch.full_like(lesson.ys[0], OVERFLOWING)])
    after = run(student, steep, 0.01)["weights"]
    check(not same(after, lesson.weights), mistake=SKIPPED, yours=after, expected=Text("a step"))


@costly
@given(lessons(steps=st.integers(2, 3), num_layers=st.integers(0, 2)))
def test_losses_are_detached(student: Student, lesson: Lesson) -> None:
    """The returned losses are detached from the autograd graph."""
    reply = run(student, lesson, 0.01)
    loss_values(reply["losses"], len(lesson.xs))
    attached = Text("a loss is still attached to its graph, which stays in memory as long as the loss: detach() it")
    yours, expected = "loss.requires_grad: True", "loss.requires_grad: False"
    check(not reply["attached"], mistake=attached, yours=yours, expected=expected)


def test_memory_does_not_grow_with_steps(student: Student, seed: int) -> None:
    """Each step keeps only its loss in memory, so a long run needs no more memory than a short one."""
    rng = rng_of(seed)
    reply = student.call(probes.alive, 4, 2, [normal(rng, [3, 4])] * 24, [normal(rng, [3])] * 24)
    require(not reply["attached"], Text("the returned losses are still attached to their graphs"))
    steps = len(reply["nodes"])
    require(steps == 24, Text("get_batch is not called once in each of the 24 steps"), yours=steps)
    tensors, nodes = (reply[kind][-1] - reply[kind][3] for kind in ("tensors", "nodes"))
    grown = Text("from step 4 to step 24, {growth} more tensors and graph nodes are in memory", growth=tensors + nodes)
    if tensors <= 0:  # only graphs of losses need no further tensors
        grown = Text("the graphs of earlier steps stay in memory: detach each loss before you store it or add it up")
    more, none = Text("{nodes} more graph nodes from step 4 to step 24", nodes=nodes), Text("no increase")
    check(tensors + nodes <= 4, mistake=grown, yours=more if tensors <= 0 else None, expected=none)


@costly
@given(lessons(steps=st.integers(1, 2), num_layers=st.integers(0, 2)), st.sampled_from([0.1, 0.25]))
def test_weights_are_updated_only_by_your_sgd(student: Student, lesson: Lesson, lr: float) -> None:
    """Each step calls get_batch, then the SGD from sgd.py with the given lr, which alone changes the weights."""
    asked, steps = len(run(student, lesson, lr)["asked"]), len(lesson.xs)
    require(asked <= steps, Text("get_batch is called more than once per step"), yours=asked, expected=str(steps))
    reply = student.call(probes.with_frozen_sgd, lesson.weights, lr, lesson.xs, lesson.ys, STEPS)
    expected = oracle.seen_by_sgd(STEPS, lr)
    assert_equal(reply["events"], expected["events"], what=Text("calls of get_batch and of SGD.step"))
    rates = sorted({*reply["rates"]})
    check(rates == expected["rates"], mistake=Text("SGD uses a different lr"), yours=rates, expected=f"[{lr:g}]")
    stayed = same(reply["weights"], lesson.weights)
    note = Text("the returned model is not the Cruncher that was built first, or its initial weights were overwritten")
    note = Text("something other than SGD changed the weights") if reply["moved"] else note
    check(stayed is not expected["weights move"], mistake=note, yours=reply["weights"])


@costly
@given(st.integers(1, 4), st.integers(0, 3), SEEDS)
def test_zero_steps_return_untrained_model(student: Student, dim: int, num_layers: int, seed: int) -> None:
    """With 0 steps, train returns a tuple: a Cruncher as torch's seed makes it, and an empty tensor or list."""
    reply = student.call(probes.untrained, dim, num_layers, seed)
    swapped = Text("the losses are returned before the model: return (model, losses)")
    seen = swapped if reply["is a tuple"] and not reply["model is first"] else ""
    note = "" if seen else Text("train should return a tuple")
    check(reply["is a tuple"] and reply["model is first"], note, mistake=seen, expected="a tuple (model, losses)")
    note, code = Text("the model should be a Cruncher from cruncher.py"), "isinstance(model, Cruncher)"
    check(reply["is a Cruncher"], note, yours=f"{code}: False", expected=f"{code}: True")
    finite = all(bool(weight.isfinite().all()) for weight in reply["start"])
    require(finite, Text("a new Cruncher has a weight that is infinite or NaN"), yours=reply["start"])
    check(loss_values(reply["losses"], 0, check) == [], Text("there should be no losses"), yours=reply["losses"])
    same_dtype = all(yours.dtype == start.dtype for yours, start in zip(reply["weights"], reply["start"], strict=True))
    assert_equal(reply["weights"], reply["start"], what="weights", mistake=DIFFERS if same_dtype else "")


@costly
@given(st.integers(1, 4), st.integers(0, 3), SEEDS)
def test_model_is_built_before_first_batch(student: Student, dim: int, num_layers: int, seed: int) -> None:
    """The model is built before the first call to get_batch, which thus does not affect it, and no seed is set."""
    reply = student.call(probes.starts, dim, num_layers, [3, 5], seed)
    assert_equal(
        reply["seed"], seed, what=Text("torch.initial_seed() after training"), mistake=Text("train sets the torch seed")
    )
    one, other = reply["weights"]
    note = Text("the initial weights depend on what get_batch draws: build the model before the first batch")
    assert_equal(other, one, what=Text("initial weights"), mistake=note)


@costly
@given(st.sampled_from(["cpu", "meta"]), st.integers(1, 4), st.integers(0, 3))
def test_model_is_on_requested_device(student: Student, device: str, dim: int, num_layers: int) -> None:
    """The parameters are those of Cruncher(D, num_layers), on the requested device, with one loss per step."""
    steps = int(device == "cpu")  # correct code may be unable to take a step on the device "meta"
    if not steps:
        with precondition():  # another test is about zero steps
            untrained = student.call(probes.built_on, dim, num_layers, "cpu", steps)
            assert_equal(untrained["losses"], steps, what=Text("losses"))
    reply = student.call(probes.built_on, dim, num_layers, device, steps)
    assert_equal(reply, oracle.built(dim, num_layers, device, steps), what=Text("the model"))


def test_training_fits_linear_data(student: Student, seed: int) -> None:
    """On data generated by a linear model, the loss decreases by a factor of 1000."""
    rng = rng_of(seed)
    x, weights = normal(rng, [16, 3]), deep_weights(rng, 3, 0)
    y = x @ torch.tensor([0.5, -1.0, 0.25])
    reply = student.call(probes.run, weights, 16, 0.1, [x] * 120, [y] * 120)
    losses = loss_values(reply["losses"], 120)
    fell = math.isfinite(losses[-1]) and losses[-1] <= losses[0] / 1000
    ends, expected = [losses[0], losses[-1]], Text("a last loss of at most 1/1000 of the first")
    require(fell, Text("the loss did not decrease enough"), yours=ends, expected=expected)

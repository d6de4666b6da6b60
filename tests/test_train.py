"""train: the loop that fits a Cruncher."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from reference.cruncher.oracle import forward
from reference.train import oracle
from tests.probes import train as probes
from tests.strategies import SEEDS, Lesson, costly, deep_weights, lessons, normal, rng_of
from torchkata import Plain, Student, as_float64, assert_close, assert_equal, check, precondition, require, same

train_scale = oracle.train  # of what can't cancel; no mistake takes its place
FEWER = "there are fewer losses than steps: some step is not taken, or its loss is left out"
MORE = "there are more losses than steps"
STEPS = 24  # enough for a rate that changes every ten or twenty of them
RATES = st.sampled_from([0.01, 0.05, 0.0])


def loss_values(losses: Plain, count: int, demand: Callable[..., None] = require) -> list[float]:
    """The losses as numbers, from a tensor of them or a list: some tests are about that, and the others need it."""
    form, there = f"as many numbers as steps: {count}", number_of(losses)
    seen = "" if there is None else FEWER if there < count else MORE
    demand(there == count, "the losses should be one number a step", mistake=seen, yours=losses, expected=form)
    values = losses.tolist() if isinstance(losses, Tensor) else [v.item() if is_number(v) else v for v in losses]
    demand(all(type(value) is float for value in values), "the losses should be numbers", yours=losses, expected=form)
    return list(values)


def number_of(losses: Plain) -> int | None:
    """How many there are in a list, or in a tensor of one axis; None for anything else."""
    if isinstance(losses, Tensor):
        return losses.shape[0] if losses.ndim == 1 else None
    return len(losses) if isinstance(losses, list) else None


def is_number(value: Plain) -> bool:
    """Whether this is a tensor of one number."""
    return isinstance(value, Tensor) and value.ndim == 0


def run(student: Student, lesson: Lesson, lr: float) -> Plain:
    """What comes of training on these batches."""
    return student.call(probes.run, lesson.weights, lesson.rows, lr, lesson.xs, lesson.ys)


def check_run(student: Student, lesson: Lesson, lr: float) -> None:
    """Losses and weights as float64 descent makes them, within the roundings of so many steps and layers."""
    reply = run(student, lesson, lr)
    start = [as_float64(w) for w in lesson.weights]
    batches = [(as_float64(x), as_float64(y)) for x, y in zip(lesson.xs, lesson.ys, strict=True)]
    weights, losses = oracle.train(start, batches, lr)
    worst = [(abs(x), -abs(y)) for x, y in batches]  # no term cancels another: the size of all that is summed
    weight_scales, loss_scales = train_scale([abs(w) for w in start], worst, -lr)
    roundings = 8 * (len(batches) + 1) * (len(start) + 1)
    check_losses(loss_values(reply["losses"], len(losses), check), losses, loss_scales, roundings)
    for i, (exact, scale) in enumerate(zip(weights, weight_scales, strict=True)):
        what = f"weight {i} after {len(batches)} steps"
        assert_close(reply["weights"][i], exact, scale=scale, roundings=roundings, what=what)


def check_losses(yours: Sequence[float], exact: Sequence[float], scales: Sequence[float], roundings: float) -> None:
    """Each step's loss, as it was before the step's update."""
    for i, (a, b, scale) in enumerate(zip(yours, exact, scales, strict=True)):
        loss = torch.tensor(a, dtype=torch.float32)
        assert_close(loss, b, scale=scale, roundings=roundings, what=f"loss of step {i + 1}")


@costly
@given(lessons(steps=st.integers(1, 1), num_layers=st.integers(0, 3)), RATES)
def test_one_step_descends_mean_squared_error(student: Student, lesson: Lesson, lr: float) -> None:
    """One step moves every weight against the gradient of the mean squared error, and reports the loss before it."""
    check_run(student, lesson, lr)


@costly
@given(lessons(steps=st.integers(2, 5), num_layers=st.integers(0, 2)), RATES)
def test_gradients_are_zeroed_between_steps(student: Student, lesson: Lesson, lr: float) -> None:
    """Several steps, each with the gradient of its own batch alone and its own loss reported."""
    check_run(student, lesson, lr)


@costly
@given(lessons(steps=st.integers(2, 4), num_layers=st.integers(0, 2)), st.sampled_from([0.0, 7e-4, 7e-4, 1e-2, 0.1]))
def test_no_step_is_skipped(student: Student, lesson: Lesson, error: float) -> None:
    """A step whose loss is small, or 0, is a step like any other: it is taken, and so are all that follow."""
    with precondition("already steps whose losses are not small go elsewhere"):
        check_run(student, lesson, 0.01)
    weights = [torch.round(4 * w) / 4 for w in lesson.weights]
    first = torch.round(lesson.xs[0])  # quarters and whole numbers: with them the first predictions are exact
    target = torch.from_numpy(forward([as_float64(w) for w in weights], as_float64(first))) + error
    ys = [target.to(torch.float32), *lesson.ys[1:]]
    check_run(student, replace(lesson, weights=weights, xs=[first, *lesson.xs[1:]], ys=ys), 0.01)


@costly
@given(lessons(steps=st.integers(1, 5), num_layers=st.integers(0, 2)))
def test_each_step_gets_one_batch(student: Student, lesson: Lesson) -> None:
    """Each step calls get_batch(B=B) once."""
    diverging = replace(lesson, ys=[lesson.ys[0] + math.inf, *lesson.ys[1:]])
    infinite = "the loss of the first step is infinite here: those that follow are steps all the same"
    expected = oracle.asked(lesson.rows, len(lesson.weights[-1]), len(lesson.xs))
    for given_batches, note in ((lesson, ""), (diverging, infinite)):
        asked = run(student, given_batches, 0.01)["asked"]
        assert_equal(asked, expected, what="the batch sizes asked for", note=note)


@costly
@given(lessons(steps=st.integers(1, 3), num_layers=st.integers(0, 2)))
def test_losses_are_detached(student: Student, lesson: Lesson) -> None:
    """The losses that come back are detached from the graph."""
    reply = run(student, lesson, 0.01)
    loss_values(reply["losses"], len(lesson.xs))
    check(
        not reply["attached"],
        mistake="a loss still carries its graph, which stays in memory as long as the loss does: detach() it",
    )


def test_memory_does_not_grow_with_steps(student: Student, seed: int) -> None:
    """Nothing of a step stays alive but its loss: a long run needs no more memory than a short one."""
    rng = rng_of(seed)
    alive = student.call(probes.alive, 4, 2, [normal(rng, [3, 4])] * 24, [normal(rng, [3])] * 24)
    growth = alive[-1] - alive[3]
    check(
        growth <= 4,
        mistake=f"from step 4 to step 24, {growth} more tensors and nodes of graphs are alive",
        expected="no more than before",
    )


@costly
@given(lessons(steps=st.integers(1, 2), num_layers=st.integers(0, 2)), st.sampled_from([0.1, 0.25]))
def test_only_your_sgd_moves_the_model(student: Student, lesson: Lesson, lr: float) -> None:
    """SGD from sgd.py moves the model, at the given learning rate, and nothing else does."""
    reply = student.call(probes.with_frozen_sgd, lesson.weights, lr, lesson.xs, lesson.ys, STEPS)
    expected = oracle.seen_by_sgd(STEPS, lr)
    assert_equal(reply["events"], expected["events"], what="batches asked for and steps of SGD")
    rates = sorted({*reply["rates"]})
    check(rates == expected["rates"], mistake="SGD has another lr", yours=rates)
    stayed = same(reply["weights"], lesson.weights)
    note = "the model that comes back is not the Cruncher that was built first, or starts from weights that were set"
    note = "something other than SGD moved the weights" if reply["moved"] else note
    check(stayed is not expected["weights move"], mistake=note, yours=reply["weights"])


@costly
@given(st.integers(1, 4), st.integers(0, 3), SEEDS)
def test_zero_steps_return_untrained_model(student: Student, dim: int, num_layers: int, seed: int) -> None:
    """num_train_steps=0 returns a tuple of a new Cruncher and no losses."""
    reply = student.call(probes.untrained, dim, num_layers, seed)
    check(reply["is a tuple"], "model and losses should come as a tuple", expected="a tuple (model, losses)")
    check(reply["is a Cruncher"], "the model should be a Cruncher from cruncher.py")
    finite = all(bool(weight.isfinite().all()) for weight in reply["start"])
    require(finite, "a new Cruncher starts with a weight that is not a finite number", yours=reply["start"])
    note = "the model starts otherwise than a new Cruncher: something is drawn, built or seeded first, or it is set"
    assert_equal(reply["weights"], reply["start"], what="weights", mistake=note)
    check(loss_values(reply["losses"], 0, check) == [], "there should be no losses", yours=reply["losses"])


@costly
@given(st.sampled_from(["cpu", "meta"]), st.integers(1, 4), st.integers(0, 3))
def test_model_is_on_requested_device(student: Student, device: str, dim: int, num_layers: int) -> None:
    """The model's parameters are on the device that was asked for."""
    reply = student.call(probes.built_on, dim, num_layers, device)
    assert_equal(reply, oracle.built(dim, num_layers, device), what="the model")


def test_training_fits_linear_data(student: Student, seed: int) -> None:
    """On data that a linear model can fit, the loss falls a thousandfold."""
    rng = rng_of(seed)
    x, weights = normal(rng, [16, 3]), deep_weights(rng, 3, 0)
    y = x @ torch.tensor([0.5, -1.0, 0.25])
    reply = student.call(probes.run, weights, 16, 0.1, [x] * 120, [y] * 120)
    losses = loss_values(reply["losses"], 120)
    fell = math.isfinite(losses[-1]) and losses[-1] <= losses[0] / 1000
    check(
        fell,
        "the loss has not fallen enough",
        yours=[losses[0], losses[-1]],
        expected="a last loss of a thousandth of the first",
    )

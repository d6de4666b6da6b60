"""save_checkpoint and load_checkpoint: stop a run, and go on as if nothing had happened."""

import math

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from reference.checkpoint import oracle
from reference.cruncher.oracle import forward
from tests.probes import checkpoint as probes
from tests.probes import checkpoint_code
from tests.strategies import SEEDS, Lesson, costly, deep_weights, lessons, normal, rng_of
from torchkata import Plain, Student, as_float64, asking, assert_close, assert_equal, check, precondition, require, same

BEYOND_FLOATS = st.integers(2**53, 2**60).map(lambda step: step | 1)
RUNS = lessons(steps=st.integers(3, 5), num_layers=st.integers(0, 2))
NOT_AS_SAVED = "what was loaded is not, to the bit, what was saved"
STILL = "this weight is what it was before loading"
TRANSPOSED = "this weight is the saved one, transposed"
SO_FAR = (
    "the first loss after loading is near, and not the same to the bit",
    "the first loss after loading is right, and the second is not: the step between them was another",
    "the first losses after loading are right, and this one is not: a step before it was another",
)
SPECIAL = [math.nan, math.inf, -math.inf, -0.0, 1e-40, 3.0e38]


@costly
@given(RUNS, st.integers(1, 10**6), st.integers(0, 2), st.booleans())
def test_resumed_run_equals_uninterrupted_run(
    student: Student, lesson: Lesson, step: int, stop: int, as_path: bool
) -> None:
    """Save, load into fresh objects, go on: losses and weights are bit for bit those of the run that never stopped."""
    reply = student.call(probes.resume, lesson.weights, lesson.xs, lesson.ys, stop, step, as_path)
    through = reply["runs"]["through"]
    if not check_weights(reply["loaded"], lesson.weights, change=1.0, later=through["weights"]):
        return  # with weights that a known mistake expects, all that follows is another run
    check_first_loss(reply["resumed"]["losses"], lesson, stop)
    finite = all(bool(weight.isfinite().all()) for weight in through["weights"])
    require(finite, "the run that never stopped ends in weights that are no finite numbers", yours=through)
    expected = oracle.rest_of_the_run(reply["runs"], reply["found"])
    for i, (yours, loss) in enumerate(zip(reply["resumed"]["losses"], expected["losses"], strict=False)):
        assert_equal(yours, loss, what=f"loss {i + 1} after loading", note=SO_FAR[min(i, 2)])
    note = "all losses after loading are right, and the weights at the end are not: the last step was another"
    assert_equal(reply["resumed"], expected, what="the rest of the run", note=note)


def check_weights(
    loaded: Plain, saved: list[Tensor], *, change: float | None = None, later: list[Tensor] | None = None
) -> bool:
    """Demand, to the bit, the weights that were saved, one after the other; whether these were what was demanded.

    Before loading the model had others: 0, or the saved ones and `change`. What was saved is `later` by now.
    """
    before = [torch.zeros_like(weight) if change is None else weight + change for weight in saved]
    expected = oracle.after_loading(saved, before, later or saved)
    form = f"{len(saved)} weights"
    check(isinstance(loaded, list) and len(loaded) == len(saved), "weights are missing", yours=loaded, expected=form)
    for i, (yours, weight) in enumerate(zip(loaded, expected, strict=True)):
        seen = STILL if same(yours, before[i]) else TRANSPOSED if same(yours, weight.T.contiguous()) else ""
        what = f"weight {i} of {len(saved)} after loading"
        assert_equal(yours, weight, what=what, note="" if seen else NOT_AS_SAVED, mistake=seen)
    return all(same(weight, one) for weight, one in zip(expected, saved, strict=True))


def check_first_loss(losses: Plain, lesson: Lesson, step: int) -> None:
    """The loss of the first step after loading is that of the weights in the file."""
    weights, x, y = [as_float64(w) for w in lesson.weights], as_float64(lesson.xs[step]), as_float64(lesson.ys[step])
    exact = np.mean((forward(weights, x) - y) ** 2)
    scale = np.mean((forward([abs(w) for w in weights], abs(x)) + abs(y)) ** 2)
    check(isinstance(losses, list) and bool(losses), "there should be losses", yours=losses)
    loss = torch.tensor(losses[0], dtype=torch.float32)
    assert_close(loss, exact, scale=scale, roundings=16 * (len(weights) + 1), what="the first loss after loading")


@costly
@given(st.integers(0, 10**6) | BEYOND_FLOATS, st.booleans())
def test_load_returns_step(student: Student, step: int, as_path: bool) -> None:
    """load_checkpoint returns the step that was saved, an int, from a path that is a str or a Path."""
    reply = student.call(probes.resume, [torch.ones(2, 1)], [torch.ones(1, 2)], [torch.ones(1)], 1, step, as_path)
    with asking(checkpoint_code.saved_and_loaded(step, as_path)):
        assert_equal(reply["step"], step, what="step", note="the step that was saved should come back, an int")


@costly
@given(RUNS)
def test_saving_changes_nothing(student: Student, lesson: Lesson) -> None:
    """Saving leaves the model, its gradients and the optimizer as they were."""
    reply = student.call(probes.around_saving, lesson.weights, lesson.xs, lesson.ys)
    before, after = reply["before"], reply["after"]
    with precondition("already loaded weights are not those that were given"):
        assert_equal(before["the weights"], lesson.weights, what="weights before saving")
    for name in before:
        assert_equal(after[name], before[name], what=name, mistake=f"saving has changed {name}")


@costly
@given(st.sampled_from(["run", "run.ckpt", "step.1000", "run.pt", "run.npz"]))
def test_checkpoint_is_written_to_exact_path(student: Student, name: str) -> None:
    """The checkpoint is the file at path itself, whatever its name ends in: no ending is added to it."""
    files = student.call(probes.files, name)
    renamed = "save_checkpoint writes the checkpoint under another name than path"
    check(name in files, mistake=renamed, yours=files, expected=f"a file {name}")


@costly
@given(st.integers(1, 4), st.integers(0, 3))
def test_frozen_parameters_stay_frozen(student: Student, num_layers: int, place: int) -> None:
    """Saving and loading leave requires_grad of every parameter as it is, of a frozen and of a trainable one."""
    weights = [torch.ones(2, 2)] * num_layers + [torch.ones(2, 1)]
    frozen = place % len(weights)
    asks = [i != frozen for i in range(len(weights))]
    for when, found in student.call(probes.requires_grad, weights, frozen).items():
        assert_equal(found, asks, what=f"requires_grad {when}")


@costly
@given(RUNS)
def test_later_training_does_not_change_checkpoint(student: Student, lesson: Lesson) -> None:
    """What is loaded is what was saved, however the model was trained since; gradients and mode are not part of it."""
    reply = student.call(probes.trained_on, lesson.weights, lesson.xs, lesson.ys)
    check_weights(reply["loaded"], lesson.weights, change=1.0, later=reply["later"])
    saved = "gradients come with the checkpoint: a fresh model has some after loading"
    assert_equal(reply["gradients"], 0, what="weights with a gradient", mistake=saved)
    check(reply["training"], mistake="loading has switched the model to eval mode")


@costly
@given(st.sampled_from(["float32", "bfloat16", "float64"]), st.integers(1, 3), st.integers(0, 2), SEEDS)
def test_values_survive_bit_for_bit(student: Student, dtype: str, dim: int, num_layers: int, seed: int) -> None:
    """NaN, infinities, the smallest numbers and bfloat16 come back as they were, in parameters and in buffers."""
    rng = rng_of(seed)
    weights = [normal(rng, shape, torch.float64) for shape in [[dim, dim]] * num_layers + [[dim, 1]]]
    for weight in weights:
        weight[0, 0] = SPECIAL[int(rng.integers(len(SPECIAL)))]
    reply = student.call(probes.special_values, weights, dtype)
    expected = [weight.to(getattr(torch, dtype)) for weight in weights]
    check_weights(reply["loaded"], expected)
    zeros = torch.zeros_like(expected[0])
    buffer = oracle.buffer_after_loading(expected[0], zeros)
    assert_equal(reply["buffer"], buffer, what="buffer after loading", note=NOT_AS_SAVED)


@costly
@given(st.sampled_from([40, 24]), SEEDS)
def test_failed_save_keeps_old_checkpoint(student: Student, dim: int, seed: int) -> None:
    """A save that fails half-way (the disk is full) raises, and the checkpoint before it can still be loaded."""
    weights = deep_weights(rng_of(seed), dim, 1)
    reply = student.call(probes.failing_save, weights)
    silent = "saving failed half-way, and save_checkpoint raised nothing"
    check(bool(reply["raised"]), mistake=silent, expected="an exception")
    check(
        not reply["unreadable"],
        mistake="the checkpoint that was there before can't be loaded any more",
        yours=" ".join(reply["unreadable"][:1]),
    )
    check_weights(reply["loaded"], weights, change=2.0, later=[weight + 1 for weight in weights])


@costly
@given(st.integers(1, 8))
def test_save_replaces_checkpoint_atomically(student: Student, dim: int) -> None:
    """The file is written under a name of its own, in path's folder or below, then put in place with os.replace."""
    moves = student.call(probes.moves, dim)
    direct = "nothing was moved onto path from its folder: it is written directly, or comes from elsewhere"
    check(
        moves["put in place"], mistake=direct, expected="os.replace(a file beside path or in a folder beside it, path)"
    )
    taken = "a file beside path that is not the checkpoint was changed: its name was taken for the unfinished file"
    check(not moves["changed"], mistake=taken, yours=moves["changed"], expected="all other files as they were")
    check(not moves["taken away"], mistake="the old checkpoint is taken away first: a run killed just then has none")


@costly
@given(st.sampled_from(["torch", "pickle"]))
def test_loading_runs_no_code(student: Student, written_by: str) -> None:
    """A file that somebody else has prepared can't run code when it is loaded."""
    ran = student.call(probes.hostile_file, 2, written_by)
    check(
        ran is False,
        mistake="loading ran code that was hidden in the file",
        expected="torch.load(..., weights_only=True)",
    )


@costly
@given(st.integers(1, 6), SEEDS)
def test_tensors_from_gpu_load_on_cpu(student: Student, dim: int, seed: int) -> None:
    """A checkpoint saved on a GPU loads onto the CPU: map_location."""
    weights = deep_weights(rng_of(seed), dim, 1)
    reply = student.call(probes.from_elsewhere, weights)
    check(
        not reply["raised"],
        mistake="a checkpoint whose tensors were on a GPU can't be loaded here",
        yours=" ".join(reply["raised"][:1]),
    )
    assert_equal(reply["devices"], ["cpu"], what="devices")
    check_weights(reply["loaded"], weights, change=1.0)


@costly
@given(RUNS, st.sampled_from([0.5, 0.9, 1.0, 0.0]))
def test_truncated_file_raises(student: Student, lesson: Lesson, part: float) -> None:
    """A file that was cut off raises, and leaves the model and the optimizer as they were."""
    reply = student.call(probes.truncated, lesson.weights, lesson.xs, lesson.ys, part)
    left = f"only {part:.0%}" if part < 1 else "all but the last byte"
    with precondition("already loaded weights are not those that were given"):
        assert_equal(reply["before"]["weights"], lesson.weights, what="weights before loading")
    check(
        bool(reply["raised"]),
        mistake=f"{left} of the file is left, and load_checkpoint raised nothing",
        expected="an exception",
    )
    assert_equal(reply["after"], reply["before"], what="model and optimizer", mistake="half a file was loaded")


SHAPES = {"w": [2, 2], "final": [2, 1]}


@costly
@given(
    st.sampled_from(
        [
            (SHAPES, SHAPES | {"extra": [2, 2]}, "a parameter of the model is missing in the file"),
            (SHAPES | {"extra": [2, 2]}, SHAPES, "the file holds a parameter that the model has not"),
            (SHAPES, {"w": [2, 2], "last": [2, 1]}, "a parameter has another name in the file"),
            (SHAPES, SHAPES | {"w": [3, 3]}, "a parameter has another shape in the file"),
            (SHAPES | {"w": [4, 1]}, SHAPES, "a parameter of as many elements has another shape in the file"),
            (SHAPES | {"w": [1, 1]}, SHAPES, "a parameter of shape (1, 1) in the file is of shape (2, 2) in the model"),
        ]
    )
)
def test_mismatched_model_raises(
    student: Student, case: tuple[dict[str, list[int]], dict[str, list[int]], str]
) -> None:
    """A missing, unexpected or renamed parameter, or one of another shape, raises instead of being passed over."""
    saved, model, note = case
    check(
        bool(student.call(probes.misfit, saved, model)),
        mistake=f"{note}, and load_checkpoint raised nothing",
        expected="an exception",
    )

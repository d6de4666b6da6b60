"""save_checkpoint and load_checkpoint: save a training run and resume it."""

import math

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from reference.checkpoint import oracle
from reference.cruncher.oracle import forward
from tests.probes import checkpoint as probes
from tests.probes import checkpoint_files as file_probes
from tests.probes.checkpoint_code import write_events
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

BEYOND_FLOATS = st.integers(2**53, 2**60).map(lambda step: step | 1)
RUNS = lessons(steps=st.integers(3, 5), num_layers=st.integers(0, 2))
STATE = {
    "weights": Text("the weights"),
    "gradients": Text("the gradients"),
    "training": Text("the model's mode, training or eval"),
    "state": Text("the optimizer's state"),
}
WHEN = {"saving": Text("after saving"), "loading": Text("after loading")}
NOT_AS_SAVED = Text("the loaded value does not equal the saved one bit for bit")
STILL = Text("this weight still has its value from before loading")
TRANSPOSED = Text("this weight is the transpose of the saved one")
SO_FAR = (
    Text("the first loss after loading is close, but not equal bit for bit"),
    Text("the first loss after loading is right and the second is wrong: the step between them differs"),
    Text("the first losses after loading are right and this one is wrong: an earlier step differs"),
)
NO_ERROR = Text("load_checkpoint raises no error")
SHAPES = {"w": [2, 2], "final": [2, 1]}
SPECIAL = [math.nan, math.inf, -math.inf, -0.0, 1e-40, 3.0e38]


def describe_refusal(raised: list[str]) -> Text | str:
    """Say which exception load_checkpoint raised, or return "" if it raised none. See `refusal`."""
    return Text("load_checkpoint raised {error}", error=raised[0]) if raised else ""


@costly
@given(RUNS, st.integers(1, 10**6), st.integers(0, 2))
def test_resumed_run_matches_uninterrupted_run(student: Student, lesson: Lesson, step: int, stop: int) -> None:
    """A run resumed in new objects reproduces the losses and weights of an uninterrupted run, bit for bit."""
    reply = student.call(probes.resume, lesson.weights, lesson.xs, lesson.ys, stop, step)
    through = reply["runs"]["through"]
    if not check_weights(reply["loaded"], lesson.weights, change=1.0, later=through["weights"]):
        return  # the loaded weights match a known mistake, so the run continues differently
    check_first_loss(reply["resumed"]["losses"], lesson, stop)
    finite = all(bool(weight.isfinite().all()) for weight in through["weights"])
    require(finite, Text("the uninterrupted run ends with weights that are infinite or NaN"), yours=through)
    expected = oracle.continue_run(reply["runs"], reply["found"])
    for i, (yours, loss) in enumerate(zip(reply["resumed"]["losses"], expected["losses"], strict=False)):
        assert_equal(yours, loss, what=Text("loss {i} after loading", i=i + 1), note=SO_FAR[min(i, 2)])
    note = Text("all losses after loading are right and the final weights are wrong: the last step differs")
    assert_equal(reply["resumed"], expected, what=Text("the resumed run"), note=note)


def check_weights(
    loaded: Plain, saved: list[Tensor], *, change: float | None = None, later: list[Tensor] | None = None
) -> bool:
    """Check that the loaded weights equal the saved ones bit for bit; return False if a known mistake was expected.

    Args:
        loaded: The model's weights after loading.
        saved: The weights when they were saved.
        change: The model's weights before loading minus `saved`, or None if the weights before loading were zeros.
        later: The current weights of the saved model.
    """
    before = [torch.zeros_like(weight) if change is None else weight + change for weight in saved]
    expected = oracle.after_loading(saved, before, later or saved)
    form = Text("{count} weights", count=len(saved))
    check(
        isinstance(loaded, list) and len(loaded) == len(saved), Text("weights are missing"), yours=loaded, expected=form
    )
    for i, (yours, weight) in enumerate(zip(loaded, expected, strict=True)):
        seen = STILL if same(yours, before[i]) else TRANSPOSED if same(yours, weight.T.contiguous()) else ""
        what = Text("weight {i} of {all} after loading", i=i, all=len(saved))
        assert_equal(yours, weight, what=what, note="" if seen else NOT_AS_SAVED, mistake=seen)
    return all(same(weight, one) for weight, one in zip(expected, saved, strict=True))


def round_weights(weights: list[Tensor]) -> list[Tensor]:
    """Round weights to multiples of 1/8, which any dtype can represent. A separate test covers other numbers."""
    return [torch.round(8 * weight) / 8 + 0.0 for weight in weights]  # + 0.0 turns -0.0 into 0.0


def check_first_loss(losses: Plain, lesson: Lesson, step: int) -> None:
    """Check the loss of the first step after loading."""
    weights, x, y = [as_float64(w) for w in lesson.weights], as_float64(lesson.xs[step]), as_float64(lesson.ys[step])
    exact = np.mean((forward(weights, x) - y) ** 2)
    scale = np.mean((forward([abs(w) for w in weights], abs(x)) + abs(y)) ** 2)
    check(isinstance(losses, list) and bool(losses), Text("there should be losses"), yours=losses)
    loss = torch.tensor(losses[0], dtype=torch.float32)
    assert_close(loss, exact, scale=scale, roundings=16 * (len(weights) + 1), what=Text("the first loss after loading"))


@costly
@given(st.integers(1, 10**6) | st.just(0) | BEYOND_FLOATS, st.booleans())
def test_load_returns_step(student: Student, step: int, as_path: bool) -> None:
    """load_checkpoint returns the saved step, even 0, as an int, whether the path is a str or a Path."""
    if step == 0:
        raised = student.call(probes.zero_step_refusal, as_path)
        note = Text("a step of 3 can be saved and loaded, but not a step of 0: is 0 taken for a missing step?")
        check(not raised, mistake=note, yours=Text("{error} is raised", error="".join(raised[:1])), expected="0")
    returned = student.call(probes.returned_step, step, as_path)
    assert_equal(returned, step, what="step", note=Text("load_checkpoint should return the saved step, an int"))


@costly
@given(RUNS, st.booleans())
def test_saving_has_no_side_effects(student: Student, lesson: Lesson, training: bool) -> None:
    """Saving does not change the model, its gradients or the optimizer."""
    reply = student.call(probes.around_saving, lesson.weights, lesson.xs, lesson.ys, training)
    before, after = reply["before"], reply["after"]
    with precondition(Text("the model does not have the weights that the test loaded into it")):
        assert_equal(before["weights"], lesson.weights, what=Text("weights before saving"))
    for name in before:
        what = STATE.get(name, name)
        assert_equal(after[name], before[name], what=what, mistake=Text("saving has changed {name}", name=what))


@costly
@given(st.sampled_from(["run", "run.ckpt", "step.1000", "run.pt", "run.npz"]))
def test_checkpoint_is_written_to_exact_path(student: Student, name: str) -> None:
    """The checkpoint is written to exactly the given path, without adding a suffix, and needs no other file."""
    reply = student.call(file_probes.files, name)
    files = reply["files"]
    renamed = Text("save_checkpoint does not write a file named path")
    check(name in files, mistake=renamed, yours=files, expected=Text("a file {name}", name=name))
    alone = Text("the file can't be loaded after it alone is moved to another folder: save everything in this one file")
    check(not reply["depends"], mistake=alone, yours=describe_refusal(reply["depends"]), expected=NO_ERROR)


@costly
@given(st.integers(1, 4), st.integers(0, 3))
def test_frozen_parameters_stay_frozen(student: Student, num_layers: int, place: int) -> None:
    """Saving and loading do not change the requires_grad flag of any parameter."""
    weights = [torch.ones(2, 2)] * num_layers + [torch.ones(2, 1)]
    frozen = place % len(weights)
    expected = [i != frozen for i in range(len(weights))]
    for when, found in student.call(probes.requires_grad, weights, frozen).items():
        assert_equal(found, expected, what=Text("requires_grad {when}", when=WHEN[when]))


@costly
@given(RUNS, st.booleans())
def test_later_training_does_not_change_checkpoint(student: Student, lesson: Lesson, training: bool) -> None:
    """Loading gives the weights from before further training, and sets neither gradients nor the training mode."""
    weights = round_weights(lesson.weights)
    reply = student.call(probes.trained_on, weights, lesson.xs, lesson.ys, training)
    check_weights(reply["loaded"], weights, change=1.0, later=reply["later"])
    saved = Text("a new model has gradients after loading: are gradients saved in the checkpoint?")
    assert_equal(reply["gradients"], 0, what=Text("weights with a gradient"), mistake=saved)
    to_eval, to_training = (
        Text("after loading, the model is in eval mode"),
        Text("after loading, the model is in training mode"),
    )
    assert_equal(reply["training"], training, what="other.training", mistake=to_eval if training else to_training)


@costly
@given(
    st.sampled_from(["float32", "bfloat16", "float64"]),
    st.integers(1, 3),
    st.lists(st.sampled_from([1.5, *SPECIAL]), min_size=1, max_size=3),
    SEEDS,
)
def test_values_are_restored_bit_for_bit(
    student: Student, dtype: str, dim: int, special: list[float], seed: int
) -> None:
    """Parameters and buffers are restored bit for bit, including NaN, infinity, very small numbers and bfloat16."""
    rng = rng_of(seed)
    weights = [normal(rng, shape, torch.float64) for shape in [[dim, dim]] * (len(special) - 1) + [[dim, 1]]]
    for weight, value in zip(weights, special, strict=True):
        weight[0, 0] = value
    reply = student.call(probes.special_values, weights, dtype)
    expected = [weight.to(getattr(torch, dtype)) for weight in weights]
    check_weights(reply["loaded"], expected)
    zeros = torch.zeros_like(expected[0])
    buffer = oracle.buffer_after_loading(expected[0], zeros)
    assert_equal(reply["buffer"], buffer, what=Text("buffer after loading"), note=NOT_AS_SAVED)


@costly
@given(st.sampled_from([40, 24]), SEEDS)
def test_failed_save_keeps_old_checkpoint(student: Student, dim: int, seed: int) -> None:
    """If saving fails (for example on a full disk), an error is raised, and loading still gives the old checkpoint."""
    weights = round_weights(deep_weights(rng_of(seed), dim, 1))
    reply = student.call(file_probes.failing_save, weights)
    silent = Text("saving failed halfway, but save_checkpoint did not raise")
    check(bool(reply["raised"]), mistake=silent, expected=Text("an exception"))
    lost = Text("the previous checkpoint can no longer be loaded")
    check(not reply["unreadable"], mistake=lost, yours=describe_refusal(reply["unreadable"]), expected=NO_ERROR)
    check_weights(reply["loaded"], weights, change=2.0, later=[weight + 1 for weight in weights])


@costly
@given(st.integers(1, 8))
def test_save_replaces_checkpoint_atomically(student: Student, dim: int) -> None:
    """With os.replace, saving moves a file from path's folder or below over the old one, and changes no other file."""
    moves = student.call(file_probes.moves, dim)
    direct = Text(
        "no file from path's folder was moved to path: the checkpoint was written directly or in another folder"
    )
    expected = Text("os.replace(a file in path's folder or in a folder inside it, path)")
    moved = Text("a file from another folder is moved to path") if moves["moved"] else Text("no file is moved to path")
    with asking(write_events()):
        check(moves["replaced"], mistake=direct, yours=moved, expected=expected)
    overwritten = Text(
        "another file in path's folder was changed: give the temporary file a name that no other file has"
    )
    check(not moves["changed"], mistake=overwritten, yours=moves["changed"], expected=Text("no change to other files"))
    removed = Text(
        "the old checkpoint is removed first: if the process is killed at that moment, there is none at path"
    )
    with asking(write_events()):
        check(not moves["removed"], mistake=removed, yours=f"{moves['removed']}(path)", expected=expected)


@costly
@given(st.sampled_from(["torch", "pickle"]))
def test_loading_executes_no_code(student: Student, written_by: str) -> None:
    """Loading an untrusted file does not execute code that is hidden in the file."""
    ran = student.call(file_probes.hostile_file, 2, written_by)
    hidden = Text("loading ran code that was hidden in the file: use torch.load(..., weights_only=True)")
    check(ran is False, mistake=hidden, expected=Text("no code from the file is executed"))


@costly
@given(st.integers(1, 6), SEEDS)
def test_tensors_from_gpu_load_on_cpu(student: Student, dim: int, seed: int) -> None:
    """A checkpoint saved on a GPU, which is simulated here, gives the saved weights on the CPU (map_location)."""
    weights = round_weights(deep_weights(rng_of(seed), dim, 1))
    reply = student.call(file_probes.from_elsewhere, weights)
    gpu_only = Text("a checkpoint with tensors from a GPU can't be loaded onto the CPU")
    check(not reply["raised"], mistake=gpu_only, yours=describe_refusal(reply["raised"]), expected=NO_ERROR)
    assert_equal(reply["devices"], ["cpu"], what="devices")
    check_weights(reply["loaded"], weights, change=1.0)


@costly
@given(RUNS, st.sampled_from([0.5, 0.9, 1.0, 0.0]))
def test_truncated_file_raises(student: Student, lesson: Lesson, part: float) -> None:
    """Loading a truncated file raises an error and changes neither the model nor the optimizer."""
    reply = student.call(file_probes.truncated, lesson.weights, lesson.xs, lesson.ys, part)
    left = Text("{part} of the file", part=f"{part:.0%}") if part < 1 else Text("all but the last byte")
    with precondition(Text("the model does not have the weights that the test loaded into it")):
        assert_equal(reply["before"]["weights"], lesson.weights, what=Text("weights before loading"))
    silent = Text("the file was truncated to {left}, but load_checkpoint did not raise", left=left)
    check(bool(reply["raised"]), mistake=silent, expected=Text("an exception"))
    assert_equal(
        reply["after"], reply["before"], what=Text("model and optimizer"), mistake=Text("part of the file was loaded")
    )


@costly
@given(RUNS)
def test_incomplete_file_raises(student: Student, lesson: Lesson) -> None:
    """Loading a file without the model's state, the optimizer's state or the step raises an error."""
    reply = student.call(probes.without_each_key, lesson.weights, lesson.xs, lesson.ys)
    step = reply["complete"]["step"]
    require(type(step) is int, Text("load_checkpoint returns no step for the complete file"), yours=step)
    for key, restored in reply["partial"].items():
        lost = [part for part, value in reply["complete"].items() if not same(restored[part], value)]
        note = Text("{key} is missing from the file, but load_checkpoint did not raise", key=repr(key))
        check(
            not lost,
            mistake=note,
            yours=restored["step"] if "step" in lost else NO_ERROR,
            expected=Text("an exception"),
        )


@costly
@given(
    st.sampled_from(
        [
            (SHAPES, SHAPES | {"extra": [2, 2]}, Text("a parameter of the model is missing from the file")),
            (SHAPES | {"extra": [2, 2]}, SHAPES, Text("the file has a parameter that the model does not have")),
            (SHAPES, {"w": [2, 2], "last": [2, 1]}, Text("a parameter has a different name in the file")),
            (SHAPES, SHAPES | {"w": [3, 3]}, Text("a parameter has a different shape in the file")),
            (
                SHAPES | {"w": [4, 1]},
                SHAPES,
                Text("a parameter has a different shape with the same number of elements in the file"),
            ),
            (SHAPES | {"w": [1, 1]}, SHAPES, Text("a parameter has shape (1, 1) in the file and (2, 2) in the model")),
        ]
    )
)
def test_mismatched_model_raises(
    student: Student, case: tuple[dict[str, list[int]], dict[str, list[int]], str]
) -> None:
    """Loading raises an error if a parameter is missing, unexpected, renamed or of a different shape."""
    saved, model, note = case
    silent = Text("{wrong}, but load_checkpoint did not raise", wrong=note)
    check(bool(student.call(probes.load_mismatch, saved, model)), mistake=silent, expected=Text("an exception"))

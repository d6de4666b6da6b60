"""train_step: matrix multiplications in bfloat16, everything else in float32."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from reference.mixed_precision import oracle
from tests.losses import assert_loss
from tests.own_answers import holds
from tests.probes import mixed_precision as probes
from tests.strategies import SEEDS, normal, rng_of, sizes
from torchkata import Plain, Student, Text, as_float64, assert_close, assert_equal, check, require

COARSE = (
    torch.finfo(torch.bfloat16).eps / torch.finfo(torch.float32).eps
)  # one bfloat16 rounding in units of float32 roundings
SHIFT = 2**8  # numbers above it have no fractional part in bfloat16, and odd ones are rounded
ROUNDED = Text("x is rounded before it reaches the model, which subtracts {shift} first: pass x as it is", shift=SHIFT)


@dataclass(frozen=True)
class Task:
    """The weights of a model, their gradients before the step, a batch, and the learning rate."""

    weights: list[Tensor]
    before: list[Tensor]
    x: Tensor
    y: Tensor
    lr: float


@st.composite
def tasks(draw: st.DrawFn, *, whole: bool = False, powers: tuple[int, ...] = (0,)) -> Task:
    """Draw a task of one to four layers, scaled by a power of 2. If `whole`, the predictions are exact in bfloat16."""
    dim, num_layers, rows = draw(sizes(3)), draw(st.integers(0, 3)), draw(sizes(2, 4))
    lr = draw(st.sampled_from([0.1, 1e-3, 1e-5]))
    size = 2.0 ** draw(st.sampled_from(powers))
    rng = rng_of(draw(SEEDS))
    shapes = [[dim, dim]] * num_layers + [[dim, 1]]
    if whole:
        weights = [torch.from_numpy(rng.integers(-1, 2, shape)).float() for shape in shapes[-2:]]
        x = torch.from_numpy(rng.integers(-3, 4, [rows, dim])).float()
    else:
        weights, x = [normal(rng, shape) for shape in shapes], size * normal(rng, [rows, dim])
    before = [normal(rng, list(weight.shape)) for weight in weights]
    return Task(weights, before, x, size * 10 * normal(rng, [rows]), lr)


def call(student: Student, task: Task, demand: Callable[..., None] = require, shift: int = 0) -> Plain:
    """Run the task and check with `demand` that the optimizer took exactly one step.

    The student gets `x + shift`, and the model subtracts `shift` first.
    """
    reply = student.call(probes.one_step, task.weights, task.before, task.x + shift, task.y, task.lr, shift)
    steps = len(reply["steps"])
    demand(steps == 1, Text("optimizer.step() should be called once"), yours=steps, expected="1")
    return reply


def check_gradients(reply: Plain, task: Task) -> None:
    """Compare the gradients with those of the mean squared error, up to bfloat16 rounding."""
    weights, before = [as_float64(w) for w in task.weights], [as_float64(grad) for grad in task.before]
    x, y = as_float64(task.x), as_float64(task.y)
    scales = oracle.gradients([abs(w) for w in weights], [abs(grad) for grad in before], abs(x), -abs(y))
    for i, (exact, scale) in enumerate(zip(oracle.gradients(weights, before, x, y), scales, strict=True)):
        grad = reply["steps"][0]["gradients"][i]
        roundings, what = (
            4 * (len(weights) + 2) * COARSE,
            Text("gradient of weight {i} when optimizer.step() is called", i=i),
        )
        assert_close(grad, exact, scale=scale, roundings=roundings, what=what)


def check_loss(reply: Plain, task: Task, roundings: float) -> None:
    """Compare the loss with the mean squared error before the step."""
    weights, after = ([as_float64(w) for w in some] for some in (task.weights, reply["weights"]))
    x, y = as_float64(task.x), as_float64(task.y)
    scale = oracle.returned([abs(w) for w in weights], [abs(w) for w in after], abs(x), -abs(y))
    seen = ROUNDED if reply["x is rounded"] else ""
    assert_loss(reply["loss"], oracle.returned(weights, after, x, y), scale=scale, roundings=roundings, mistake=seen)


@given(tasks())
def test_matmuls_are_bfloat16_and_state_is_float32(student: Student, task: Task) -> None:
    """Matmuls in the forward pass run in bfloat16. Parameters, gradients and optimizer state are float32."""
    reply = call(student, task)
    dtypes = reply["dtypes"]
    products = "matmuls in the forward pass"
    none = "bfloat16" not in dtypes[products]
    half = "float16" in dtypes[products]
    seen = Text("no matmul in the forward pass is bfloat16: is autocast enabled there?") if none else ""
    if none and reply["autocast for CUDA"]:
        seen = Text("autocast is requested for 'cuda', but x is on the CPU: pass device_type=x.device.type")
    seen = Text("the matmuls run in float16: pass dtype=torch.bfloat16 to autocast") if half else seen
    note = Text("the matmuls of the forward pass should run in bfloat16")
    assert_equal(dtypes[products], ["bfloat16"], what=Text("matmuls in the forward pass"), note=note, mistake=seen)
    note = Text("this should stay float32: autocast casts copies, but model.bfloat16() casts the parameters themselves")
    parts = {
        "parameters": Text("parameters"),
        "gradients": Text("gradients"),
        "optimizer's state": Text("optimizer's state"),
    }
    missing = Text("there are no gradients when optimizer.step() is called")
    require("missing" not in dtypes["gradients"], mistake=missing)
    for name, part in parts.items():
        assert_equal(dtypes[name], ["float32"], what=part, note=note)


@given(tasks(whole=True))
def test_loss_is_computed_in_float32(student: Student, task: Task) -> None:
    """The loss is one number, the float32 mean squared error of predictions exact in bfloat16. x is passed as it is."""
    unchanged = replace(task, lr=0.0)  # another test is about a loss that is computed after the step
    check_loss(call(student, unchanged, shift=SHIFT), unchanged, roundings=8)


@given(tasks())
def test_loss_is_computed_before_the_step(student: Student, task: Task) -> None:
    """The returned loss is the loss before the update, up to bfloat16 rounding, and is detached."""
    roundings = 8 * (len(task.weights) + 2) * COARSE
    unchanged = call(student, replace(task, lr=0.0))
    reply = call(student, task)
    if holds(check_loss, unchanged, replace(task, lr=0.0), roundings) or holds(check_loss, reply, task, roundings):
        check_loss(reply, task, roundings)
    else:
        own = unchanged["loss"]
        is_number = type(own) is float or (isinstance(own, Tensor) and own.ndim == 0 and own.is_floating_point())
        require(is_number, Text("the loss is not one number"), yours=own)
        note = Text("the loss (expected: the one that your code returns if lr is 0)")
        assert_loss(reply["loss"], float(own), scale=abs(float(own)), roundings=roundings, what=note)
    attached = Text("the loss is still attached to its graph, which stays in memory as long as the loss: detach() it")
    yours, expected = "loss.requires_grad: True", "loss.requires_grad: False"
    check(not reply["attached"], mistake=attached, yours=yours, expected=expected)


@given(tasks())
def test_step_uses_only_gradients_of_current_batch(student: Student, task: Task) -> None:
    """optimizer.step() is called once, with the gradients of this batch's mean squared error and no earlier ones."""
    check_gradients(call(student, task, check), task)


@given(tasks(powers=(24, -24, 40, -40)))
def test_values_beyond_float16_range_survive(student: Student, task: Task) -> None:
    """Numbers above 1e7 do not overflow and numbers below 1e-8 do not underflow, as they would in float16."""
    size = 2.0 ** torch.frexp(task.y.abs().max())[1].item()
    plain = replace(task, x=task.x / size, y=task.y / size)
    plain_reply = call(student, plain)
    reply = call(student, task)
    if holds(check_gradients, plain_reply, plain) or holds(check_gradients, reply, task):
        check_gradients(reply, task)
    else:
        grads, plain_grads = (each["steps"][0]["gradients"] for each in (reply, plain_reply))
        for i, (grad, plain_grad) in enumerate(zip(grads, plain_grads, strict=True)):
            are_tensors = isinstance(grad, Tensor) and isinstance(plain_grad, Tensor)
            require(
                are_tensors, Text("there is no gradient of weight {i} when optimizer.step() is called", i=i), yours=grad
            )
            survives = bool(grad.isfinite().all()) and bool(grad.any()) is bool(plain_grad.any())
            check(survives, Text("the gradient of weight {i} overflows or underflows", i=i), yours=grad)


@given(tasks())
def test_small_updates_are_not_rounded_away(student: Student, task: Task) -> None:
    """The weights change only by optimizer.step(), which computes in float32 from unrounded weights."""
    reply = call(student, task)
    grads = reply["steps"][0]["gradients"]
    require(
        all(isinstance(grad, Tensor) for grad in grads),
        mistake=Text("there are no gradients when optimizer.step() is called"),
        yours=grads,
    )
    for i, (weight, grad) in enumerate(zip(task.weights, grads, strict=True)):
        start, slope = as_float64(weight), as_float64(grad)
        scale = oracle.step(abs(start), -abs(slope), task.lr)
        what = Text("weight {i} after the step", i=i)
        assert_close(reply["weights"][i], oracle.step(start, slope, task.lr), scale=scale, what=what)

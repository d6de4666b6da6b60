"""measure_step: what a training step takes, predicted by its operations and measured on a device that is pretended."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from reference.measure_step import oracle
from tests.meter import count_operations
from tests.probes import measure_step as probes
from tests.strategies import costly
from torchkata import Plain, Student, assert_count, assert_equal, assert_number, check

SMALL = st.sampled_from([(5, 3, 2), (2, 4, 1), (3, 2, 4), (1, 3, 3), (4, 1, 2), (6, 2, 1)])  # B, D, L
SIZES = SMALL | st.tuples(
    st.integers(1, 4096), st.integers(1, 4096), st.integers(1, 12)
)  # no side is 1 in the simplest
SQUARE = st.tuples(st.integers(8, 16), st.integers(8, 16), st.integers(1, 3))
DTYPES = st.sampled_from(["float32", "bfloat16", "float64", "float8_e4m3fn"])
PEAKS = st.floats(1e9, 1e15)
INTENSITIES = st.sampled_from([1.0, 10.0, 100.0, 0.1, 1e4])  # of the accelerator: FLOPs for each byte
MOST = 2.0  # steps: a model that does more than it has to between its products takes less than that
FIRST = 1000  # steps that the first product takes
AT_LEAST = 3  # steps are timed
ROUNDING = 1e-9  # sums of many numbers, in any order
OTHER = 4  # times as much is what stand-ins for the student's earlier functions return
COUNTED = "counted in torch"
FAR = 1e25  # FLOP/s that no step reaches: an mfu that is cut off at 1 is below it
ELSEWHERE = "the matrices lie on another device than the one that the caller names by torch.device"
WHOLE = "whole steps: forward, backward without the gradient of x, update"


def itemsize_of(dtype: str) -> int:
    """Bytes of an element."""
    size: int = getattr(torch, dtype).itemsize
    return size


def check_built_on(function: str, what: str, yours: Plain, by_stand_ins: Plain) -> None:
    """Demand that a figure changes when stand-ins for the student's functions return other figures."""
    unused = f"your {function} is not used for {what}: a stand-in that returns other figures changes nothing"
    check(yours != by_stand_ins, mistake=unused)


def step_of(weights: list[nn.Parameter], x: Tensor, ones: Tensor) -> None:
    """A step in plain torch: forward, backward, update."""
    y = x
    for weight in weights:
        y = torch.relu(y @ weight)
    torch.autograd.backward(y, ones)
    with torch.no_grad():
        for weight in weights:
            assert weight.grad is not None
            weight.sub_(weight.grad, alpha=0.1)


@given(SIZES, DTYPES)
def test_each_operation_has_its_flops_and_bytes(student: Student, sizes: tuple[int, int, int], dtype: str) -> None:
    """step_work lists the exact FLOPs and bytes of every operation: 2 · L forward, 3 · L - 1 backward, L of SGD."""
    yours = student.call(probes.work, *sizes, dtype)
    expected = oracle.work(oracle.step(*sizes), itemsize_of(dtype))
    whole = all(type(number) is int for each in yours for number in each)
    check(whole, "FLOPs and bytes are exact ints", yours=yours[0], expected="two ints for each")
    note = f"{len(yours)} operations, where there are {len(expected)}" if len(yours) != len(expected) else ""
    assert_equal(sorted(yours), [list(each) for each in expected], what="work, sorted", note=note)
    check_built_on("matrix_matrix_work", "work", yours, student.call(probes.work, *sizes, dtype, OTHER))


@given(SMALL)
def test_torch_does_the_work_that_is_predicted(student: Student, sizes: tuple[int, int, int]) -> None:
    """A step in torch moves the bytes that step_work lists, and takes the FLOPs that predict_step predicts."""
    B, D, L = sizes
    work = student.call(probes.work, B, D, L, "float32")
    flops = student.call(probes.predicted, B, D, L, "float32", 1e12, 1e12)["flops"]
    weights, x, ones = [nn.Parameter(torch.ones(D, D)) for _ in range(L)], torch.ones(B, D), torch.ones(B, D)
    meter = count_operations(lambda: step_of(weights, x, ones))
    assert_count(sum(moved for _, moved in work), meter.bytes, what="bytes of all operations", note=COUNTED)
    assert_count(flops, meter.flops, what="FLOPs of all products", note=COUNTED)
    other = student.call(probes.predicted, B, D, L, "float32", 1e12, 1e12, OTHER)["flops"]
    check_built_on("deep_linear_flops", "flops", flops, other)


@given(SMALL)
def test_autograd_keeps_the_memory_that_is_predicted(student: Student, sizes: tuple[int, int, int]) -> None:
    """predict_step's memory is that of the parameters, the gradients and the tensors that autograd keeps in torch."""
    B, D, L = sizes
    yours = student.call(probes.predicted, B, D, L, "float32", 1e12, 1e12)["memory"]
    kept: dict[int, int] = {}

    def note(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    weights, x, ones = [nn.Parameter(torch.ones(D, D)) for _ in range(L)], torch.ones(B, D), torch.ones(B, D)
    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        step_of(weights, x, ones)
    own = {weight.untyped_storage().data_ptr() for weight in weights}
    parameters = sum(weight.untyped_storage().nbytes() for weight in weights)
    activations = sum(size for place, size in kept.items() if place not in own)
    parts = (
        f"{parameters} of parameters, {parameters} of gradients, {activations} of {len(kept.keys() - own)} activations"
    )
    assert_count(yours, 2 * parameters + activations, what="memory", note=f"{COUNTED}: {parts}")
    other = student.call(probes.predicted, B, D, L, "float32", 1e12, 1e12, OTHER)["memory"]
    check_built_on("training_bytes", "memory", yours, other)


@given(SIZES, DTYPES)
def test_memory_is_parameters_gradients_and_activations(
    student: Student, sizes: tuple[int, int, int], dtype: str
) -> None:
    """predict_step's memory is that of parameters, gradients and what is kept for the backward pass, in any dtype."""
    B, D, L = sizes
    yours = student.call(probes.predicted, *sizes, dtype, 1e12, 1e12)
    activations = oracle.kept(oracle.forward(*sizes)) * B * D
    assert_count(yours["memory"], oracle.memory_bytes(D, L, activations, itemsize_of(dtype)), what="memory")
    other = student.call(probes.predicted, *sizes, dtype, 1e12, 1e12, OTHER)
    check_built_on("training_bytes", "memory", yours["memory"], other["memory"])


@given(SIZES, DTYPES)
def test_flops_are_of_products_and_bytes_of_all_operations(
    student: Student, sizes: tuple[int, int, int], dtype: str
) -> None:
    """predict_step's FLOPs are those of the products alone, its bytes those that all operations move."""
    yours = student.call(probes.predicted, *sizes, dtype, 1e12, 1e12)
    operations = oracle.step(*sizes)
    assert_count(yours["flops"], oracle.model_flops(operations), what="flops")
    assert_count(yours["bytes"], oracle.bytes_moved(operations, itemsize_of(dtype)), what="bytes")
    other = student.call(probes.predicted, *sizes, dtype, 1e12, 1e12, OTHER)
    check_built_on("deep_linear_flops", "flops", yours["flops"], other["flops"])
    check_built_on("step_work", "bytes", yours["bytes"], other["bytes"])


@given(SIZES, DTYPES, PEAKS, INTENSITIES)
def test_the_seconds_add_up_operation_by_operation(
    student: Student, sizes: tuple[int, int, int], dtype: str, peak: float, intensity: float
) -> None:
    """predict_step's seconds add up what each operation takes: the longer of its arithmetic and of moving its bytes."""
    yours = student.call(probes.predicted, *sizes, dtype, peak, peak / intensity)
    expected = oracle.seconds(oracle.step(*sizes), itemsize_of(dtype), peak, peak / intensity)
    assert_number(yours["seconds"], expected, relative=ROUNDING, what="seconds")
    other = student.call(probes.predicted, *sizes, dtype, peak, peak / intensity, OTHER)
    check_built_on("step_work", "seconds", yours["seconds"], other["seconds"])


@given(SIZES, PEAKS, INTENSITIES)
def test_predictions_scale_as_they_must(
    student: Student, sizes: tuple[int, int, int], peak: float, intensity: float
) -> None:
    """Twice the rows take twice the FLOPs, twice the width four times; twice both speeds halve the seconds."""
    B, D, L = sizes
    speeds = peak, peak / intensity
    one = student.call(probes.predicted, B, D, L, "float32", *speeds)
    rows = student.call(probes.predicted, 2 * B, D, L, "float32", *speeds)
    width = student.call(probes.predicted, B, 2 * D, L, "float32", *speeds)
    deeper = student.call(probes.predicted, B, D, L + 1, "float32", *speeds)
    faster = student.call(probes.predicted, B, D, L, "float32", *(2 * speed for speed in speeds))
    assert_count(rows["flops"], 2 * one["flops"], what="FLOPs of twice the rows")
    assert_count(width["flops"], 4 * one["flops"], what="FLOPs of twice the width")
    assert_count(deeper["flops"] - one["flops"], 6 * B * D * D, what="FLOPs of one layer more")
    assert_number(faster["seconds"], one["seconds"] / 2, relative=ROUNDING, what="seconds at twice both speeds")


@costly
@given(st.sampled_from([(32, 64), (48, 200), (64, 40)]), PEAKS, st.floats(1, 4))
def test_two_products_measure_the_device(
    student: Student, sizes: tuple[int, int], peak: float, intensity: float
) -> None:
    """measure_device finds both speeds of a device: FLOP/s by two matrices, bytes/s by a matrix and a vector."""
    n, rows = sizes
    for place in ("cpu", "meta"):
        reply = student.call(probes.device, n, rows, peak, peak / intensity, place)
        check_device(reply, n, rows, peak, intensity)
        check(reply["places"] == [place], mistake=ELSEWHERE, yours=", ".join(reply["places"]), expected=place)


def check_device(reply: Plain, n: int, rows: int, peak: float, intensity: float) -> None:
    """Demand both speeds of the device that was pretended."""
    flops, moved = 2 * n**3, 4 * (rows * n + n + rows)
    expected = oracle.device(flops, flops / peak, moved, moved / (peak / intensity))
    note = f"your time_matmul was given {' and '.join(f'{a} by {b}' for a, b in reply['timed']) or 'nothing'}"
    check(len(reply["figures"]) == 2, "these should be two numbers", yours=reply["figures"], expected="two numbers")
    for name, one, figure in zip(("FLOP/s", "bytes/s"), reply["figures"], expected, strict=True):
        assert_number(one, figure, relative=ROUNDING, what=name, note=note)


@costly
@given(SQUARE, PEAKS, st.floats(0.2, 0.5))
def test_the_measured_seconds_are_those_of_one_step(
    student: Student, sizes: tuple[int, int, int], peak: float, intensity: float
) -> None:
    """measure_step returns the seconds of one step after a warm-up, which are above the bound that is predicted."""
    operations = oracle.step(*sizes)
    bound = oracle.seconds(operations, 4, peak, peak / intensity)
    first = FIRST * bound
    reply = student.call(probes.measured, *sizes, peak, peak, peak / intensity, first)
    steps = reply["flops"] / oracle.model_flops(operations)
    note = f"time is pretended here; while the clock ran, products were done for {steps:.4g} steps"
    check(steps == int(steps), note, yours=f"{steps:.4g} steps", expected=WHOLE)
    check(steps >= AT_LEAST, "time at least three steps", yours=f"{steps:.4g} steps", expected="3 steps or more")
    low = oracle.measured(int(steps), bound, first)
    yours = reply["took"]["seconds"]
    number = type(yours) is float
    shown = f"{low:.4g} (the bound) to {MOST * low:.4g} seconds: so long does a step take on this device"
    check(number and low * (1 - ROUNDING) <= yours < MOST * low, note, yours=yours, expected=shown)


@costly
@given(SQUARE, PEAKS, st.floats(1e9, 1e15))
def test_mfu_is_flops_over_seconds_over_what_was_promised(
    student: Student, sizes: tuple[int, int, int], peak: float, promised: float
) -> None:
    """measure_step's mfu is the step's FLOPs over its seconds, as a share of what was promised."""
    took = student.call(probes.measured, *sizes, promised, peak, peak, 0.0)["took"]
    expected = oracle.mfu(oracle.model_flops(oracle.step(*sizes)), took["seconds"], promised)
    assert_number(took["mfu"], expected, what="mfu", note=f"in {took['seconds']:.4g} seconds")
    other = student.call(probes.measured, *sizes, FAR, peak, peak, 0.0, OTHER)["took"]
    own = oracle.mfu(oracle.model_flops(oracle.step(*sizes)), other["seconds"], FAR)
    check_built_on("mfu", "mfu", round(other["mfu"] / own), 1)


def test_it_works_on_this_machine(student: Student) -> None:
    """On this machine's own clock a step takes a positive time, and no time limit is missed."""
    took = student.call(probes.real, 4, 8, 2, 1e12)
    check(took["is a time"], "this is no time", yours=took["seconds"], expected="a positive float")

"""Tests for the predictions of measure_step and for its measurements on a simulated device."""

from functools import reduce

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from reference.measure_step import oracle
from tests.meter import count_operations, measure_saved
from tests.probes import measure_step as probes
from tests.strategies import costly
from torchkata import Plain, Student, Text, asking, assert_count, assert_equal, assert_number, check, precondition

SMALL = st.sampled_from([(5, 3, 2), (2, 4, 1), (3, 2, 4), (1, 3, 3), (4, 1, 2), (6, 2, 1)])  # B, D, L
SIZES = SMALL | st.tuples(st.integers(1, 4096), st.integers(1, 4096), st.integers(1, 12))
SQUARE = st.tuples(st.integers(8, 16), st.integers(8, 16), st.integers(1, 3))
DTYPES = st.sampled_from(["float32", "bfloat16", "float64", "float8_e4m3fn"])
PEAKS = st.floats(1e9, 1e15)
INTENSITIES = st.sampled_from([1.0, 10.0, 100.0, 0.1, 1e4])  # intensities of the accelerator, in FLOP/byte
MOST = 2.0  # multiple of the bound that even a model with unnecessary operations does not exceed
FIRST = 1000  # time of the first product as a multiple of the bound
AT_LEAST = 3  # minimum number of timed steps
ROUNDING = 1e-9  # relative error of sums of many numbers in any order
OTHER = 4  # factor by which wrappers multiply the results of the student's functions
COUNTED = Text("expected is the number counted while torch runs a step")
FAR = 1e25  # FLOP/s that no step reaches, so that clipping at 1 has no effect
ELSEWHERE = Text("the matrices are not on the caller's torch.device")
WHOLE = Text("whole steps: forward, backward without the gradient of x, update")


def get_itemsize(dtype: str) -> int:
    """Return the number of bytes per element."""
    size: int = getattr(torch, dtype).itemsize
    return size


def check_built_on(function: str, what: Text | str, yours: Plain, by_stand_ins: Plain) -> None:
    """Check that a result changes if the student's functions are replaced by wrappers that return other values."""
    unused = Text(
        "{what} does not use your {function}: a stand-in that returns different values changes nothing",
        what=what,
        function=function,
    )
    check(yours != by_stand_ins, mistake=unused)


def run_step(weights: list[nn.Parameter], x: Tensor, ones: Tensor) -> None:
    """Run a training step in plain PyTorch: forward pass, backward pass and update."""
    y = x
    for weight in weights:
        y = torch.relu(y @ weight)
    torch.autograd.backward(y, ones)
    with torch.no_grad():
        for weight in weights:
            assert weight.grad is not None
            weight.sub_(weight.grad, alpha=0.1)


@given(SIZES, DTYPES)
def test_step_work_lists_every_operation(student: Student, sizes: tuple[int, int, int], dtype: str) -> None:
    """step_work returns ints, the FLOPs and bytes of each operation, and uses your matrix_matrix_work."""
    yours = student.call(probes.list_work, *sizes, dtype)
    expected = oracle.work(oracle.step(*sizes), get_itemsize(dtype))
    whole = all(type(number) is int for each in yours for number in each)
    check(whole, Text("return exact ints"), yours=yours[0], expected=Text("two ints for each"))
    counts = {"found": len(yours), "wanted": len(expected)}
    check(len(yours) == len(expected), Text("{found} operations, expected {wanted}", **counts), yours=yours)
    with asking(f"sorted(step_work(B, D, L, torch.{dtype}))"):
        for i, (one, other) in enumerate(zip(sorted(yours), expected, strict=True)):
            assert_equal(one, list(other), what=Text("(FLOPs, bytes) of operation {i} in the sorted list", i=i))
    check_built_on("matrix_matrix_work", "work", yours, student.call(probes.list_work, *sizes, dtype, OTHER))


@given(SMALL)
def test_step_work_matches_torch(student: Student, sizes: tuple[int, int, int]) -> None:
    """step_work's bytes and predict_step's FLOPs, from your deep_linear_flops, are ints that equal those in torch."""
    B, D, L = sizes
    work = student.call(probes.list_work, B, D, L, "float32")
    weights, x, ones = [nn.Parameter(torch.ones(D, D)) for _ in range(L)], torch.ones(B, D), torch.ones(B, D)
    meter = count_operations(lambda: run_step(weights, x, ones))
    moved, what = sum(each for _, each in work), Text("bytes of all operations")
    with precondition():
        assert_count(moved, oracle.bytes_moved(oracle.step(B, D, L), get_itemsize("float32")), what=what, note=COUNTED)
    assert_count(moved, meter.bytes, what=what, note=COUNTED)
    flops = student.call(probes.predict, B, D, L, "float32", 1e12, 1e12)["flops"]
    assert_count(flops, meter.flops, what=Text("FLOPs of all products"), note=COUNTED)
    other = student.call(probes.predict, B, D, L, "float32", 1e12, 1e12, OTHER)["flops"]
    check_built_on("deep_linear_flops", "flops", flops, other)


@given(SMALL)
def test_memory_matches_tensors_saved_by_autograd(student: Student, sizes: tuple[int, int, int]) -> None:
    """predict_step's memory is an int: your training_bytes of parameters, gradients and tensors autograd saves."""
    B, D, L = sizes
    yours = student.call(probes.predict, B, D, L, "float32", 1e12, 1e12)["memory"]
    weights, x, ones = [nn.Parameter(torch.ones(D, D)) for _ in range(L)], torch.ones(B, D), torch.ones(B, D)
    activations = measure_saved(lambda: run_step(weights, x, ones), weights)
    parameters, saved = sum(weight.nbytes for weight in weights), sum(activations)
    parts = Text(
        "{parameters} of parameters, {gradients} of gradients, {bytes} of {count} activations",
        parameters=parameters,
        gradients=parameters,
        bytes=saved,
        count=len(activations),
    )
    assert_count(yours, 2 * parameters + saved, what="memory", note=Text("counted in torch: {parts}", parts=parts))
    other = student.call(probes.predict, B, D, L, "float32", 1e12, 1e12, OTHER)["memory"]
    check_built_on("training_bytes", "memory", yours, other)


@given(SIZES, DTYPES)
def test_memory_is_parameters_gradients_and_activations(
    student: Student, sizes: tuple[int, int, int], dtype: str
) -> None:
    """predict_step's memory is an int: your training_bytes of parameters, gradients and activations in any dtype."""
    B, D, L = sizes
    yours = student.call(probes.predict, *sizes, dtype, 1e12, 1e12)
    activations = oracle.count_saved(oracle.forward(*sizes)) * B * D
    assert_count(yours["memory"], oracle.memory_bytes(D, L, activations, get_itemsize(dtype)), what="memory")
    other = student.call(probes.predict, *sizes, dtype, 1e12, 1e12, OTHER)
    check_built_on("training_bytes", "memory", yours["memory"], other["memory"])


@given(SIZES, DTYPES)
def test_flops_count_matmuls_but_bytes_count_all_operations(
    student: Student, sizes: tuple[int, int, int], dtype: str
) -> None:
    """predict_step returns ints: the matmuls' FLOPs by your deep_linear_flops, and all bytes in your step_work."""
    yours = student.call(probes.predict, *sizes, dtype, 1e12, 1e12)
    operations = oracle.step(*sizes)
    assert_count(yours["flops"], oracle.model_flops(operations), what="flops")
    assert_count(yours["bytes"], oracle.bytes_moved(operations, get_itemsize(dtype)), what=Text("bytes"))
    other = student.call(probes.predict, *sizes, dtype, 1e12, 1e12, OTHER)
    check_built_on("deep_linear_flops", "flops", yours["flops"], other["flops"])
    check_built_on("step_work", Text("bytes"), yours["bytes"], other["bytes"])


@given(SIZES, DTYPES, PEAKS, INTENSITIES)
def test_seconds_are_summed_over_operations(
    student: Student, sizes: tuple[int, int, int], dtype: str, peak: float, intensity: float
) -> None:
    """predict_step sums, over your step_work, the time for arithmetic or for moving bytes, whichever is longer."""
    yours = student.call(probes.predict, *sizes, dtype, peak, peak / intensity)
    expected = oracle.seconds(oracle.step(*sizes), get_itemsize(dtype), peak, peak / intensity)
    assert_number(yours["seconds"], expected, relative=ROUNDING, what="seconds")
    other = student.call(probes.predict, *sizes, dtype, peak, peak / intensity, OTHER)
    check_built_on("step_work", "seconds", yours["seconds"], other["seconds"])


@given(SIZES, PEAKS, INTENSITIES)
def test_predictions_scale_with_sizes_and_speeds(
    student: Student, sizes: tuple[int, int, int], peak: float, intensity: float
) -> None:
    """FLOPs are ints proportional to B · D², and each layer adds 6 · B · D². Twice the speeds halve the seconds."""
    B, D, L = sizes
    speeds = peak, peak / intensity
    one = student.call(probes.predict, B, D, L, "float32", *speeds)
    rows = student.call(probes.predict, 2 * B, D, L, "float32", *speeds)
    width = student.call(probes.predict, B, 2 * D, L, "float32", *speeds)
    deeper = student.call(probes.predict, B, D, L + 1, "float32", *speeds)
    faster = student.call(probes.predict, B, D, L, "float32", *(2 * speed for speed in speeds))
    assert_count(rows["flops"], 2 * one["flops"], what=Text("FLOPs for twice as many rows"))
    assert_count(width["flops"], 4 * one["flops"], what=Text("FLOPs for twice the width"))
    assert_count(deeper["flops"] - one["flops"], 6 * B * D * D, what=Text("FLOPs for one more layer"))
    assert_number(
        faster["seconds"], one["seconds"] / 2, relative=ROUNDING, what=Text("seconds if both speeds are doubled")
    )


@costly
@given(st.sampled_from([(32, 64), (48, 200), (64, 40)]), PEAKS, st.floats(1, 4))
def test_measure_device_times_matmul_and_matrix_vector_product(
    student: Student, sizes: tuple[int, int], peak: float, intensity: float
) -> None:
    """measure_device returns the FLOP/s of two matrices and bytes/s of a matrix and a vector on the caller's device."""
    n, rows = sizes
    for place in ("cpu", "meta"):
        reply = student.call(probes.measure_device, n, rows, peak, peak / intensity, place)
        check_device(reply, n, rows, peak, intensity)
        check(reply["places"] == [place], mistake=ELSEWHERE, yours=", ".join(reply["places"]), expected=place)


def check_device(reply: Plain, n: int, rows: int, peak: float, intensity: float) -> None:
    """Check the measured FLOP/s and bytes/s of the simulated device."""
    flops, moved = 2 * n**3, 4 * (rows * n + n + rows)
    expected = oracle.device(flops, flops / peak, moved, moved / (peak / intensity))
    timed = [Text("{one} by {other}", one=one, other=other) for one, other in reply["timed"]]
    sizes = reduce(lambda one, other: Text("{one} and {other}", one=one, other=other), timed or [Text("nothing")])
    note = Text("your time_matmul was given {sizes}", sizes=sizes)
    check(len(reply["figures"]) == 2, Text("return two numbers"), yours=reply["figures"], expected=Text("two numbers"))
    for name, one, figure in zip(("FLOP/s", "bytes/s"), reply["figures"], expected, strict=True):
        assert_number(one, figure, relative=ROUNDING, what=name, note=note)


@costly
@given(SQUARE, PEAKS, st.floats(0.2, 0.5))
def test_measured_seconds_are_for_one_step(
    student: Student, sizes: tuple[int, int, int], peak: float, intensity: float
) -> None:
    """After a warm-up, measure_step times three or more steps as in the stub, and returns the seconds of one."""
    operations = oracle.step(*sizes)
    bound = oracle.seconds(operations, 4, peak, peak / intensity)
    first = FIRST * bound
    reply = student.call(probes.measure, *sizes, peak, peak, peak / intensity, first)
    before, *between = (flops / oracle.model_flops(operations) for flops in reply["flops"])
    check(len(between) > 0, mistake=Text("the argument clock is never called"))
    steps = sum(between)
    note = Text(
        "on a simulated device; while the clock ran, it computed the products of {steps} steps", steps=f"{steps:.4g}"
    )
    check(steps == int(steps), note, yours=Text("{steps} steps", steps=f"{steps:.4g}"), expected=WHOLE)
    check(
        steps >= AT_LEAST,
        Text("time at least three steps"),
        yours=Text("{steps} steps", steps=f"{steps:.4g}"),
        expected=Text("{steps} steps or more", steps=3),
    )
    note_stay = Text("the parameters never change: between two calls of the model, nothing is written to them")
    check(not reply["parameters stay"], mistake=note_stay, expected=Text("an update of each parameter"))
    added = Text("backward() adds to the gradients of the step before: set p.grad to None in every step")
    check(not reply["gradients add up"], mistake=added)
    low = oracle.measure_seconds(int(steps), bound, first)
    yours = reply["took"]["seconds"]
    number = type(yours) is float
    without = oracle.seconds([*oracle.forward(*sizes), *oracle.backward(*sizes)], 4, peak, peak / intensity)
    is_without = number and abs(yours - without) <= ROUNDING * without
    lacks = Text("the time is that of a step without SGD, which belongs between the two calls of the clock")
    shown = Text(
        "{low} (the bound) to {high} seconds, the time of a step on this device",
        low=f"{low:.4g}",
        high=f"{MOST * low:.4g}",
    )
    if number:
        note = Text("{note}; yours is {ratio} times the bound", note=note, ratio=f"{yours / bound:.4g}")
    in_range = number and low * (1 - ROUNDING) <= yours < MOST * low
    check(in_range, note, yours=yours, expected=shown, mistake=lacks if is_without else "")
    warm_up = before or next((each for each in between if each), 0)
    rest = steps + before - warm_up
    check(
        rest >= AT_LEAST,
        mistake=Text(
            "{rest} steps are timed after the warm-up (the first {count}): time at least three",
            rest=f"{rest:.4g}",
            count=f"{warm_up:.4g}",
        ),
    )


@costly
@given(SQUARE, PEAKS, st.floats(1e9, 1e15))
def test_measured_mfu_divides_by_promised_flops(
    student: Student, sizes: tuple[int, int, int], peak: float, promised: float
) -> None:
    """The mfu from measure_step is that of your mfu function: the FLOPs of the step / seconds / promised."""
    took = student.call(probes.measure, *sizes, promised, peak, peak, 0.0)["took"]
    expected = oracle.mfu(oracle.model_flops(oracle.step(*sizes)), took["seconds"], promised)
    assert_number(
        took["mfu"], expected, what="mfu", note=Text("in {seconds} seconds", seconds=f"{took['seconds']:.4g}")
    )
    other = student.call(probes.measure, *sizes, FAR, peak, peak, 0.0, OTHER)["took"]
    own = oracle.mfu(oracle.model_flops(oracle.step(*sizes)), other["seconds"], FAR)
    check_built_on("mfu", "mfu", round(other["mfu"] / own), 1)


def test_runs_on_the_current_machine(student: Student) -> None:
    """On this machine, measure_step returns a positive time within the time limit."""
    took = student.call(probes.measure_here, 4, 8, 2, 1e12)
    check(took["is a time"], Text("return a positive time"), yours=took["seconds"], expected=Text("a positive float"))

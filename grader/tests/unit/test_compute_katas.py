"""Tests of the oracles, meter, device data and simulated machine of the compute katas."""

import ast
import re
import time
import timeit
from collections.abc import Callable

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils.flop_counter import FlopCounterMode

from grader.tests import ROOT
from reference.flop_accounting import oracle as flop_accounting
from reference.roofline import oracle as roofline
from tests.meter import count_operations
from tests.probes.simulated_machine import Machine, simulating
from tests.test_promised_flops import DEVICES
from torchkata.speed.datasheets import devices

sizes = st.integers(0, 20)
ROWS_OF_DATASHEET = {"FP32": "fp32", "TF32": "tf32", "BFLOAT16, FP16": "bf16", "FP8": "fp8"}


def count_flops(work: Callable[[], object]) -> int:
    """Count the FLOPs of matrix multiplications."""
    with FlopCounterMode(display=False) as counter:
        work()
    return int(counter.get_total_flops())


@given(sizes, sizes, sizes)
def test_matmul_flops_match_torch(m: int, k: int, n: int) -> None:
    a, b = torch.empty(m, k, device="meta"), torch.empty(k, n, device="meta")
    flops = count_flops(lambda: a @ b)
    assert flops == flop_accounting.matmul_flops(m, k, n) == roofline.product_work(m, k, n, 4)[0]
    assert flops == count_operations(lambda: torch.ones(m, k) @ torch.ones(k, n)).flops


@given(st.integers(1, 20), st.integers(1, 20), st.integers(0, 5), st.booleans())
def test_network_flops_match_torch(B: int, D: int, L: int, input_needs_grad: bool) -> None:
    x = torch.empty(B, D, device="meta", requires_grad=input_needs_grad)
    weights = [torch.empty(D, D, device="meta", requires_grad=True) for _ in range(L)]

    def run() -> None:
        y = x
        for weight in weights:
            y = y @ weight
        if y.requires_grad:
            torch.autograd.backward(y.square().mean())

    products = flop_accounting.deep_linear_products(L, input_needs_grad)
    assert count_flops(run) == products * flop_accounting.matmul_flops(B, D, D)


def test_meter_counts_bytes_read_and_written() -> None:
    x, w = torch.ones(3, 4, dtype=torch.bfloat16), torch.ones(4, 5, dtype=torch.bfloat16)
    assert count_operations(lambda: x @ w).bytes == 2 * (12 + 20 + 15) == roofline.product_work(3, 4, 5, 2)[1]
    assert count_operations(lambda: x.T[1:]).bytes == 0
    assert count_operations(lambda: torch.dot(x[0], w[:, 0])).bytes == 2 * (4 + 4 + 1)


def test_device_table_of_stub_matches_datasheets() -> None:
    module = ast.parse((ROOT / "assignment/promised_flops.py").read_text("utf-8"))
    text = next(ast.get_docstring(node) or "" for node in module.body if isinstance(node, ast.FunctionDef))
    heading, *lines = text.split("(1e12 FLOP/s):\n\n")[1].partition("\n\n")[0].splitlines()
    assert re.split(r"\s{2,}", heading.strip()) == DEVICES
    for line in lines:
        row, *figures = line.replace(" *", "*").rsplit(maxsplit=3)
        key, dense = ROWS_OF_DATASHEET[row.strip().rstrip("*")], 0.5 if "*" in row else 1
        for name, figure in zip(DEVICES, figures, strict=True):
            known = devices()[name].tflops.get(key)
            assert (figure == "–") == (known is None)
            assert known is None or dense * float(figure) == pytest.approx(known, rel=1e-3)


def make_machine(*, on_gpu: bool = False, busy: float = 0.0) -> Machine:
    return Machine(seconds=[2.0], flops=2, launch=0.25, on_gpu=on_gpu, busy=busy)


def test_simulated_clocks_advance_with_matmuls() -> None:
    with simulating(make_machine()):
        for clock in (time.time, time.perf_counter, time.monotonic, time.process_time, timeit.default_timer):
            start = clock()
            torch.ones(1, 1) @ torch.ones(1, 1)
            assert clock() - start == 2.0
        assert timeit.timeit(lambda: torch.ones(1, 1) @ torch.ones(1, 1), number=3) == 6.0
        start_ns = time.perf_counter_ns()
        time.sleep(3600)
        assert time.perf_counter_ns() - start_ns == 3600 * 10**9


def test_simulated_gpu_queues_matmuls_until_synchronized() -> None:
    with simulating(make_machine(on_gpu=True, busy=10.0)) as gpu:
        x = torch.ones(1, 1).to("cuda")
        assert (x.device.type, gpu.holds(x[0])) == ("cuda", True)
        start = time.perf_counter()
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
        begin.record()
        y = x @ x
        end.record()
        assert time.perf_counter() - start == 0.25
        with pytest.raises(RuntimeError, match="not ready"):
            begin.elapsed_time(end)
        torch.cuda.synchronize()
        assert time.perf_counter() - start == 12.0
        assert begin.elapsed_time(end) == 2000.0, "elapsed_time must return milliseconds"
        y = x @ x
        assert time.perf_counter() - start == 12.25
        y.item()
        assert time.perf_counter() - start == 14.25
        assert (x @ x).cpu().is_cpu
        assert time.perf_counter() - start == 16.5
        assert (x @ x).to("cpu").is_cpu
        assert time.perf_counter() - start == 18.75


def test_clocks_and_cuda_are_restored_after_simulation() -> None:
    clocks, available = (time.perf_counter, time.sleep, timeit.default_timer), torch.cuda.is_available
    defaults = timeit.timeit.__defaults__
    with pytest.raises(ZeroDivisionError), simulating(make_machine(on_gpu=True)):  # noqa: PT012
        simulated = time.perf_counter
        raise ZeroDivisionError
    assert (time.perf_counter, time.sleep, timeit.default_timer) == clocks
    assert (torch.cuda.is_available, timeit.timeit.__defaults__) == (available, defaults)
    assert simulated is not time.perf_counter
    assert simulated() <= time.perf_counter()

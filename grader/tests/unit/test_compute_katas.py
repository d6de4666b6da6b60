"""Tests of counted FLOPs and bytes, device data and the simulated machine, of compute katas and of workloads."""

import ast
import re
import time
import timeit
from collections.abc import Callable
from dataclasses import asdict

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils.flop_counter import FlopCounterMode

from grader.tests import ROOT
from grader.tests.support.solution import SOLUTION
from reference.flop_accounting import oracle as flop_accounting
from reference.roofline import oracle as roofline
from reference.transformer_accounting import oracle as transformer
from reference.workloads.adagrad_step import AdagradStep
from reference.workloads.sgd_step import SgdStep
from reference.workloads.training import step_flops
from tests.meter import count_operations
from tests.probes.simulated_machine import Machine, simulating
from tests.test_promised_flops import DEVICES
from tests.transformer import Transformer
from torchkata.inside.assignment import Assignment
from torchkata.inside.speed.sizes import Size
from torchkata.speed.datasheets import devices

Cruncher = Assignment(SOLUTION, "solution").cruncher.Cruncher
sizes, sides = st.integers(0, 20), st.integers(1, 20)
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


@given(sides, sides, st.integers(0, 5), st.booleans())
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


@given(rows=sides, dim=sides, num_layers=st.integers(0, 4))
def test_training_step_flops_match_torch(rows: int, dim: int, num_layers: int) -> None:
    model, x = Cruncher(dim, num_layers), torch.ones(rows, dim)
    assert count_flops(lambda: model(x).square().mean().backward()) == step_flops(rows, dim, num_layers)


@given(
    sizes=st.lists(sides, min_size=4, max_size=4), layers=st.integers(1, 3), heads=st.integers(1, 3), tied=st.booleans()
)
def test_transformer_counts_match_torch(sizes: list[int], layers: int, heads: int, tied: bool) -> None:
    each, hidden, vocab, context = sizes
    config = transformer.Config(layers, heads * each, heads, hidden, vocab, context, tied)
    with torch.device("meta"):
        model, tokens = Transformer(**asdict(config)), torch.zeros(context, dtype=torch.long)
    assert transformer.num_parameters(config) == sum(p.numel() for p in model.parameters())
    counted = count_flops(lambda: model(tokens).sum().backward())
    assert counted == context * transformer.flops_per_token(config)


def test_solutions_run_under_autocast() -> None:
    own = Assignment(SOLUTION, "solution").language_model
    with torch.autocast("cpu", torch.bfloat16):
        value = own.loss(own.LanguageModel(5, 8, 1, 4), torch.zeros(2, 5, dtype=torch.int64))
    assert value.isfinite()


def test_workload_bytes_depend_on_dtype() -> None:
    sgd, adagrad, size = SgdStep(), AdagradStep(), Size(parameters=1000)
    assert sgd.amount(size) == sgd.baseline_amount(size) == adagrad.baseline_amount(size) == 12_000
    assert sgd.amount(Size(parameters=1000, dtype="bfloat16")) == 6_000
    assert adagrad.amount(size) == 20_000
    assert adagrad.amount(Size(parameters=1000, dtype="float64")) == 40_000
    assert sgd.amount(Size()) == adagrad.amount(Size()) == 0


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


def test_clocks_and_cuda_are_restored_after_simulation() -> None:
    clocks, available = (time.perf_counter, time.sleep, timeit.default_timer), torch.cuda.is_available
    defaults = timeit.timeit.__defaults__
    with pytest.raises(ZeroDivisionError), simulating(Machine(on_gpu=True)):  # noqa: PT012
        simulated = time.perf_counter
        raise ZeroDivisionError
    assert (time.perf_counter, time.sleep, timeit.default_timer) == clocks
    assert (torch.cuda.is_available, timeit.timeit.__defaults__) == (available, defaults)
    assert simulated is not time.perf_counter
    assert simulated() <= time.perf_counter()

"""Compares the FLOPs of the workloads with torch's own counts, and their bytes with literals."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from grader.tests.support.solution import SOLUTION
from grader.tests.unit.test_compute_katas import count_flops
from reference.workloads.adagrad_step import AdagradStep
from reference.workloads.sgd_step import SgdStep
from reference.workloads.training import step_flops
from torchkata.seam.assignment import Assignment
from torchkata.speed.sizes import Size, product_flops

solution = Assignment(SOLUTION, "solution")
Cruncher, Linear = solution.cruncher.Cruncher, solution.linear.Linear
sizes = st.integers(1, 40)


@given(rows=st.integers(0, 40), input_dim=sizes, output_dim=sizes)
def test_linear_flops_match_torch(rows: int, input_dim: int, output_dim: int) -> None:
    layer, x = Linear(input_dim, output_dim), torch.ones(rows, input_dim)
    assert count_flops(lambda: layer(x)) == product_flops(rows, input_dim, output_dim)


@given(rows=sizes, dim=sizes, num_layers=st.integers(0, 4))
def test_training_step_flops_match_torch(rows: int, dim: int, num_layers: int) -> None:
    model, x = Cruncher(dim, num_layers), torch.ones(rows, dim)
    assert count_flops(lambda: model(x).square().mean().backward()) == step_flops(rows, dim, num_layers)


def test_workload_bytes_depend_on_dtype() -> None:
    sgd, adagrad, size = SgdStep(), AdagradStep(), Size(parameters=1000)
    assert sgd.amount(size) == sgd.baseline_amount(size) == adagrad.baseline_amount(size) == 12_000
    assert sgd.amount(Size(parameters=1000, dtype="bfloat16")) == 6_000
    assert adagrad.amount(size) == 20_000
    assert adagrad.amount(Size(parameters=1000, dtype="float64")) == 40_000
    assert sgd.amount(Size()) == adagrad.amount(Size()) == 0

"""Compares the FLOPs, parameters and bytes of the workloads with torch's own counts."""

import weakref
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from grader.tests.support.solution import SOLUTION
from grader.tests.unit.test_compute_katas import count_flops
from reference.workloads.adagrad_step import AdagradStep
from reference.workloads.peak_memory import peak_bytes
from reference.workloads.sgd_step import SgdStep
from reference.workloads.training import parameters, step_flops
from torchkata.compat.torch_internals import DispatchMode
from torchkata.seam.assignment import Assignment
from torchkata.speed.sizes import Size, product_flops

solution = Assignment(SOLUTION, "solution")
Cruncher, Linear, train = solution.cruncher.Cruncher, solution.linear.Linear, solution.train.train
STEPS = 3
sizes = st.integers(1, 40)


class LiveBytes(DispatchMode):  # type: ignore[no-untyped-call]
    """Counts the bytes of all live storages. Each storage is counted once, regardless of its number of views."""

    def __init__(self) -> None:
        super().__init__()
        self.storages = weakref.WeakSet[torch.UntypedStorage]()
        self.peak = 0

    def __torch_dispatch__(
        self, func: Callable[..., Any], _types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        self.storages.update(tensor.untyped_storage() for tensor in self.tensors_in(result))
        self.peak = max(self.peak, sum(storage.nbytes() for storage in self.storages))
        return result


@given(rows=st.integers(0, 40), input_dim=sizes, output_dim=sizes)
def test_linear_flops_match_torch(rows: int, input_dim: int, output_dim: int) -> None:
    layer, x = Linear(input_dim, output_dim), torch.ones(rows, input_dim)
    assert count_flops(lambda: layer(x)) == product_flops(rows, input_dim, output_dim)


@given(rows=sizes, dim=sizes, num_layers=st.integers(0, 4))
def test_training_step_flops_and_parameters_match_torch(rows: int, dim: int, num_layers: int) -> None:
    model, x = Cruncher(dim, num_layers), torch.ones(rows, dim)
    assert count_flops(lambda: model(x).square().mean().backward()) == step_flops(rows, dim, num_layers)
    assert parameters(dim, num_layers) == sum(p.numel() for p in model.parameters())


def test_workload_bytes_depend_on_dtype() -> None:
    sgd, adagrad, size = SgdStep(), AdagradStep(), Size(parameters=1000)
    assert sgd.amount(size) == sgd.baseline_amount(size) == adagrad.baseline_amount(size) == 12_000
    assert sgd.amount(Size(parameters=1000, dtype="bfloat16")) == 6_000
    assert adagrad.amount(size) == 20_000
    assert adagrad.amount(Size(parameters=1000, dtype="float64")) == 40_000
    assert sgd.amount(Size()) == adagrad.amount(Size()) == 0
    wide = peak_bytes(8, 16, 2, torch.float64)
    assert wide == 2 * peak_bytes(8, 16, 2) == 4 * peak_bytes(8, 16, 2, torch.half)


@pytest.mark.parametrize("num_layers", [0, 1, 2, 3, 5])
@pytest.mark.parametrize(("rows", "dim"), [(0, 32), (1, 1), (1, 64), (64, 64), (400, 32), (48, 160)])
def test_peak_memory_of_training_matches_live_tensors(rows: int, dim: int, num_layers: int) -> None:
    def get_batch(B: int) -> tuple[Tensor, Tensor]:
        return torch.randn(B, dim), torch.randn(B)

    with LiveBytes() as memory:
        train(get_batch, dim, num_layers, rows, STEPS, 0.01)
    vectors = 3 * rows * 4  # some vectors of length batch_size may be alive at the peak
    scalars = (STEPS + 2) * 4  # the losses, one more loss and its gradient
    assert abs(memory.peak - peak_bytes(rows, dim, num_layers)) <= vectors + scalars

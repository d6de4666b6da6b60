"""What is computed from shapes is what torch counts and what tensors weigh."""

import weakref
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from grader.tests.support.solution import SOLUTION
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
    """Counts the bytes of all storages that are alive, each once, whatever views there are of it."""

    def __init__(self) -> None:
        super().__init__()
        self.live: set[int] = set()
        self.now = self.peak = 0

    def __torch_dispatch__(
        self, func: Callable[..., Any], _types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        for tensor in self.tensors_in(result):
            self.add(tensor.untyped_storage())
        return result

    def add(self, storage: torch.UntypedStorage) -> None:
        key, size = storage._cdata, storage.nbytes()
        if key not in self.live:
            self.live.add(key)
            weakref.finalize(storage, self.remove, key, size)
            self.now += size
            self.peak = max(self.peak, self.now)

    def remove(self, key: int, size: int) -> None:
        self.live.remove(key)
        self.now -= size


def counted(work: Callable[[], object]) -> int:
    with FlopCounterMode(display=False) as counter:
        work()
    return int(counter.get_total_flops())


@given(rows=st.integers(0, 40), input_dim=sizes, output_dim=sizes)
def test_the_flops_of_a_linear_layer_are_what_torch_counts(rows: int, input_dim: int, output_dim: int) -> None:
    layer, x = Linear(input_dim, output_dim), torch.ones(rows, input_dim)
    assert counted(lambda: layer(x)) == product_flops(rows, input_dim, output_dim)


@given(rows=sizes, dim=sizes, num_layers=st.integers(0, 4))
def test_the_flops_of_a_training_step_are_what_torch_counts(rows: int, dim: int, num_layers: int) -> None:
    model, x = Cruncher(dim, num_layers), torch.ones(rows, dim)
    expected = step_flops(rows, dim, num_layers)
    assert counted(lambda: model(x).square().mean().backward()) == expected


def test_the_step_of_one_layer_takes_four_flops_per_parameter_and_row() -> None:
    assert step_flops(8, 4096, 1) == 4 * 8 * 4096**2 + 6 * 8 * 4096


@given(dim=sizes, num_layers=st.integers(0, 4))
def test_the_number_of_parameters_is_that_of_the_model(dim: int, num_layers: int) -> None:
    expected = sum(p.numel() for p in Cruncher(dim, num_layers).parameters())
    assert parameters(dim, num_layers) == expected


def test_the_bytes_of_an_optimizer_step_follow_the_dtype() -> None:
    sgd, adagrad = SgdStep(), AdagradStep()
    assert sgd.amount(Size(parameters=1000)) == 12_000
    assert sgd.amount(Size(parameters=1000, dtype="bfloat16")) == 6_000
    assert adagrad.amount(Size(parameters=1000)) == 20_000
    assert adagrad.amount(Size(parameters=1000, dtype="float64")) == 40_000
    assert sgd.amount(Size()) == adagrad.amount(Size()) == 0


def test_a_baseline_is_credited_with_what_it_moves_itself() -> None:
    size = Size(parameters=1000)
    assert AdagradStep().baseline_amount(size) == SgdStep().baseline_amount(size) == SgdStep().amount(size)


@pytest.mark.parametrize("num_layers", [0, 1, 2, 3, 5])
@pytest.mark.parametrize(("rows", "dim"), [(0, 32), (1, 1), (1, 64), (64, 64), (400, 32), (48, 160)])
def test_the_peak_memory_of_training_is_what_live_tensors_take(rows: int, dim: int, num_layers: int) -> None:
    def get_batch(B: int) -> tuple[Tensor, Tensor]:
        return torch.randn(B, dim), torch.randn(B)

    with LiveBytes() as memory:
        train(get_batch, dim, num_layers, rows, STEPS, 0.01)
    expected = peak_bytes(rows, dim, num_layers)
    vectors = 3 * rows * 4  # of the batch's length: which of them coincide with the peak depends on the moment
    scalars = (STEPS + 2) * 4  # the losses, one more loss and its gradient
    assert abs(memory.peak - expected) <= vectors + scalars


def test_the_peak_memory_of_training_follows_the_dtype() -> None:
    wide = peak_bytes(8, 16, 2, torch.float64)
    assert wide == 2 * peak_bytes(8, 16, 2) == 4 * peak_bytes(8, 16, 2, torch.half)

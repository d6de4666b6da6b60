"""Tests of the checks of a timed block: plain torch passes, and every way of omitting work fails."""

from collections.abc import Callable

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from torchkata.inside.speed.layout import Memory, bytes_needed, lay_out
from torchkata.inside.speed.sizes import Size
from torchkata.inside.speed.workload import Check, work_of

SMALL = {
    "linear_forward": Size(batch=32, width=48, outputs=16),
    "cruncher_step": Size(batch=16, width=32, layers=2, rate=1.5),
    "train_throughput": Size(batch=16, width=32, layers=2, rate=0.05),
    "sgd_step": Size(parameters=1000, rate=0.1),
    "adagrad_step": Size(parameters=1000, rate=0.1),
    "get_batch_throughput": Size(batch=16, sequence=24, tokens=5000, width=64),
}
CALLS = 3


def prepare(workload: str) -> tuple[Check, Memory]:
    """Prepare the check of a small block. Return the check and the memory of the block."""
    torch.manual_seed(0)  # with such a small batch, some initial weights make the check unfair
    size, chosen = SMALL[workload], work_of(workload)
    fields = chosen.fields(size, CALLS)
    room = torch.zeros(bytes_needed(fields), dtype=torch.uint8)
    memory = lay_out(fields, room, room)
    check = chosen.check(memory, memory, size)
    check.prepare()
    return check, memory


def begin(workload: str) -> tuple[Check, Memory, Callable[[], object]]:
    """Begin a block. Return its check, its memory and correct work: the baseline, except for AdaGrad."""
    check, memory = prepare(workload)
    work = work_of(workload).baseline(SMALL[workload], memory, "cpu")
    if workload == "adagrad_step":
        work = make_adagrad(memory, SMALL[workload])
    check.begun()
    check.refresh()
    return check, memory, work


def make_adagrad(memory: Memory, size: Size) -> Callable[[], object]:
    """Return an AdaGrad step. Its initial state is the square of the current gradients, as after one step."""
    state = memory["grad"].square().clone()

    def work() -> None:
        state.add_(memory["grad"].square())
        memory["p"].sub_(size.rate * memory["grad"] / (state + 1e-5).sqrt())

    return work


@pytest.mark.parametrize("workload", SMALL)
@pytest.mark.parametrize("times", [1, 2])
def test_plain_torch_solution_is_accepted(workload: str, times: int) -> None:
    """The grader draws the inputs again if the device is busy when a block begins."""
    check, _, work = begin(workload)
    for _ in range(2):
        work()
        assert check.error() <= check.floor
        assert check.error() <= check.floor, "asking twice changes nothing"
        for _draw in range(times):
            check.refresh()


@pytest.mark.parametrize("workload", SMALL)
def test_results_from_previous_block_are_rejected(workload: str) -> None:
    check, memory, work = begin(workload)
    fields = work_of(workload).fields(SMALL[workload], CALLS)
    work()
    results = [name for name, field in fields.items() if field.role == "filled" or name == "p"]
    kept = {name: memory[name].clone() for name in results}
    check.refresh()
    for name in results:
        memory[name].copy_(kept[name])
    assert not check.error() <= 0.1


@pytest.mark.parametrize("workload", SMALL)
def test_skipped_call_is_rejected(workload: str) -> None:
    check, memory, work = begin(workload)
    before = {name: tensor.clone() for name, tensor in memory.items()}
    work()
    for name in ("y", "new_layers", "p", "batch"):
        if name in memory and workload != "train_throughput":
            memory[name][1].copy_(before[name][1])
    if workload == "train_throughput":
        memory["new_layers"][0].copy_(before["layers"][0])
    assert not check.error() <= 0.01


@pytest.mark.parametrize(
    ("workload", "result"), [("linear_forward", "y"), ("cruncher_step", "new_layers"), ("sgd_step", "p")]
)
def test_result_in_half_precision_is_rejected(workload: str, result: str) -> None:
    check, memory, work = begin(workload)
    work()
    memory[result].copy_(memory[result].bfloat16())
    assert not check.error() <= 10 * check.floor


@pytest.mark.parametrize("workload", ["sgd_step", "adagrad_step"])
@given(left_out=st.integers(16, 1000), start=st.integers(0, 999))
def test_block_that_skips_elements_is_rejected(workload: str, left_out: int, start: int) -> None:
    check, memory, work = begin(workload)
    before = memory["p"].clone()
    work()
    end = min(1000, start + left_out)
    memory["p"][:, start:end] = before[:, start:end]
    assert end - start < 16 or not check.error() <= check.floor


def test_adagrad_without_state_is_rejected() -> None:
    check, memory, _ = begin("adagrad_step")
    adagrad_without_state = memory["grad"] / (memory["grad"].square() + 1e-5).sqrt()
    memory["p"].sub_(0.1 * adagrad_without_state)
    assert not check.error() <= 0.01


@pytest.mark.parametrize(
    "spoil", [lambda batch: batch.copy_(batch[0, :1].clone()), lambda batch: batch[1, 2, -1].add_(1)]
)
def test_repeated_or_modified_rows_are_rejected(spoil: Callable[[Tensor], object]) -> None:
    check, memory, work = begin("get_batch_throughput")
    work()
    spoil(memory["batch"])
    assert check.error() == float("inf")


@pytest.mark.parametrize("left_out", [{0}, {1}, {2}, {0, 1, 2}])
def test_product_that_is_left_out_is_rejected(monkeypatch: pytest.MonkeyPatch, left_out: set[int]) -> None:
    """The workload's own product runs in the student's process, which can replace `torch.mm`."""
    check, _, work = begin("get_batch_throughput")
    usual, calls = torch.mm, iter(range(CALLS))
    monkeypatch.setattr(torch, "mm", lambda *args, out: None if next(calls) in left_out else usual(*args, out=out))
    work()
    assert not check.error() <= 0.1


def test_training_from_zero_weights_is_rejected() -> None:
    check, memory = prepare("train_throughput")
    check.begun()
    check.refresh()
    memory["new_layers"].zero_()
    memory["new_final"].zero_()
    assert check.error() == float("inf")

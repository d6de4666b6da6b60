"""What is demanded of a block's results: right ones of plain torch pass, and each way of doing less does not."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from reference.workloads.get_batch_throughput import KEY_TOKENS, BatchCheck
from reference.workloads.training import Weights
from torchkata.speed.layout import Memory, bytes_needed, lay_out
from torchkata.speed.sizes import Size
from torchkata.speed.workload import Check, work_of

SMALL = {
    "linear_forward": Size(batch=32, width=48, outputs=16),
    "cruncher_step": Size(batch=16, width=32, layers=2, rate=1.5),
    "train_throughput": Size(batch=16, width=32, layers=2, rate=0.05),
    "sgd_step": Size(parameters=1000, rate=0.1),
    "adagrad_step": Size(parameters=1000, rate=0.1),
    "get_batch_throughput": Size(batch=16, sequence=24, tokens=5000),
}
CALLS = 3


def room(workload: str) -> tuple[dict[str, Tensor], Size]:
    """Memory for a small block."""
    size = SMALL[workload]
    chosen = work_of(workload).fields(size, CALLS)
    memory = torch.zeros(bytes_needed(chosen), dtype=torch.uint8)
    return lay_out(chosen, memory, memory), size


def begun(workload: str) -> tuple[Check, Memory, Callable[[], object]]:
    """A check, its memory, and the baseline's work (AdaGrad's by hand: its baseline computes something else)."""
    torch.manual_seed(0)  # so small a start is not always a fair one, and what was drawn before is up to other tests
    memory, size = room(workload)
    check = work_of(workload).check(memory, memory, size)
    check.prepare()
    work = work_of(workload).baseline(size, memory, "cpu")
    if workload == "adagrad_step":
        work = adagrad(memory, size)
    check.begun()
    return check, memory, work


def adagrad(memory: Memory, size: Size) -> Callable[[], object]:
    """Steps of AdaGrad; one with the gradients that are there now has been taken."""
    state = memory["grad"].square().clone()

    def work() -> None:
        state.add_(memory["grad"].square())
        memory["p"].sub_(size.rate * memory["grad"] / (state + 1e-5).sqrt())

    return work


@pytest.mark.parametrize("workload", SMALL)
def test_the_results_of_plain_torch_pass_the_check_block_after_block(workload: str) -> None:
    check, _, work = begun(workload)
    for _ in range(3):
        check.refresh()
        work()
        assert check.error() <= check.floor


@pytest.mark.parametrize("workload", SMALL)
def test_doing_nothing_in_a_block_fails_the_check(workload: str) -> None:
    check, _, _ = begun(workload)
    check.refresh()
    assert not check.error() <= max(check.floor, 0.1)


@pytest.mark.parametrize("workload", SMALL)
def test_results_kept_from_the_block_before_fail_the_check(workload: str) -> None:
    check, memory, work = begun(workload)
    check.refresh()
    work()
    kept = {name: memory[name].clone() for name, field in work_of(workload).fields(SMALL[workload], CALLS).items()}
    check.refresh()
    for name, field in work_of(workload).fields(SMALL[workload], CALLS).items():
        if field.role == "filled" or name == "p":
            memory[name].copy_(kept[name])
    assert not check.error() <= 0.1


@pytest.mark.parametrize("workload", SMALL)
def test_leaving_out_one_call_of_a_block_fails_the_check(workload: str) -> None:
    check, memory, work = begun(workload)
    check.refresh()
    before = {name: tensor.clone() for name, tensor in memory.items()}
    work()
    for name in ("y", "new_layers", "p", "batch"):
        if name in memory and workload != "train_throughput":
            memory[name][1].copy_(before[name][1])
    if workload == "train_throughput":
        memory["new_layers"][0].copy_(before["layers"][0])
    assert not check.error() <= 0.01


def test_results_in_half_the_precision_fail_the_check() -> None:
    for workload, result in (("linear_forward", "y"), ("cruncher_step", "new_layers"), ("sgd_step", "p")):
        check, memory, work = begun(workload)
        check.refresh()
        work()
        memory[result].copy_(memory[result].bfloat16())
        assert not check.error() <= 10 * check.floor


@pytest.mark.parametrize("workload", ["sgd_step", "adagrad_step"])
@given(left_out=st.integers(16, 1000), start=st.integers(0, 999))
def test_an_optimizer_step_that_leaves_out_elements_fails_the_check(workload: str, left_out: int, start: int) -> None:
    check, memory, work = begun(workload)
    check.refresh()
    before = memory["p"].clone()
    work()
    end = min(1000, start + left_out)
    memory["p"][:, start:end] = before[:, start:end]
    assert end - start < 16 or not check.error() <= check.floor


def test_an_adagrad_step_without_its_state_fails_the_check() -> None:
    check, memory, _ = begun("adagrad_step")
    check.refresh()
    adagrad_without_state = memory["grad"] / (memory["grad"].square() + 1e-5).sqrt()
    memory["p"].sub_(0.1 * adagrad_without_state)
    assert not check.error() <= 0.01


def test_batches_that_repeat_a_row_fail_the_check() -> None:
    check, memory, work = begun("get_batch_throughput")
    check.refresh()
    work()
    memory["batch"][:] = memory["batch"][0, :1].clone()
    assert check.error() == float("inf")


def test_a_batch_with_a_row_that_is_no_window_fails_the_check() -> None:
    check, memory, work = begun("get_batch_throughput")
    check.refresh()
    work()
    memory["batch"][1, 2, -1] += 1
    assert check.error() == float("inf")


def test_training_from_zeros_fails_the_check() -> None:
    memory, size = room("train_throughput")
    check = work_of("train_throughput").check(memory, memory, size)
    check.prepare()
    check.begun()
    check.refresh()
    memory["new_layers"].zero_()
    memory["new_final"].zero_()
    assert check.error() == float("inf")


@given(st.integers(0, 3), st.integers(1, 5), st.integers(1, 6), st.integers(0, 2**32))
def test_the_replay_of_a_training_step_is_what_autograd_computes(
    layers: int, width: int, batch: int, seed: int
) -> None:
    generator = torch.Generator().manual_seed(seed)

    def drawn(*shape: int) -> Any:
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    weights = Weights.of(drawn(layers, width, width), drawn(width, 1))
    model = [weight.clone().requires_grad_() for weight in (*weights.layers, weights.final)]
    for _ in range(2):
        x, target = drawn(batch, width), drawn(batch)
        weights.step(x, target, 0.01)
        y = x
        for weight in model:
            y = y @ weight
        (y.squeeze(-1) - target).square().mean().backward()
        with torch.no_grad():
            for weight in model:
                weight -= 0.01 * weight.grad
                weight.grad = None
    for found, expected in zip((*weights.layers, weights.final), model, strict=True):
        torch.testing.assert_close(found, expected.detach(), rtol=1e-9, atol=1e-9)


def test_rows_are_found_where_they_stand() -> None:
    random = np.random.default_rng(0)
    check: Any = BatchCheck({}, {}, work_of("get_batch_throughput").sizes["cpu"])
    check.data = random.integers(2**16, size=2**16, dtype=np.uint16)
    starts = random.integers(len(check.data) - KEY_TOKENS, size=1000)
    rows = check.data[starts[:, None] + np.arange(KEY_TOKENS)].astype(np.int64)
    assert np.array_equal(check.starts(rows), starts)
    assert np.all(check.starts(rows[:, ::-1]) != starts), "a row of other tokens stands elsewhere, or nowhere"

"""Tests that the checks accept bfloat16 products, however they are computed, and reject int8 and fp8 products.

The products are emulated on the CPU, in matrices of WIDTH instead of 8192 or more. There, int8 is more accurate than on
a GPU, because the largest of fewer numbers is smaller. The table in docs/evidence/thresholds.md states the errors.
"""

import itertools
import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias
from unittest.mock import Mock

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from grader.tests.unit.test_thresholds import read_table
from torchkata.inside.speed.layout import bytes_needed, lay_out
from torchkata.inside.speed.workload import Check, work_of

WIDTH = 1024
SPARE = 1.3  # factor between an error and the tolerance
HEADING = "products | error in `linear_forward` | error in `cruncher_step` | result"
Product: TypeAlias = Callable[[Tensor, Tensor], Tensor]


def in_int8(a: Tensor, b: Tensor) -> Tensor:
    """Multiply with a scale for each row of a and each column of b."""
    rounded = []
    for matrix, dim in ((a.float(), 1), (b.float(), 0)):
        scale = matrix.abs().amax(dim, keepdim=True).clamp(min=1e-30) / 127  # a row may be 0
        rounded.append((matrix / scale).round() * scale)
    return (rounded[0] @ rounded[1]).bfloat16()


def in_fp8(a: Tensor, b: Tensor) -> Tensor:
    """Multiply with a scale for each matrix."""
    rounded = []
    for matrix in (a.float(), b.float()):
        scale = matrix.abs().max() / 448
        rounded.append((matrix / scale).to(torch.float8_e4m3fn).float() * scale)
    return (rounded[0] @ rounded[1]).bfloat16()


def in_autocast(a: Tensor, b: Tensor) -> Tensor:
    with torch.autocast("cpu", torch.bfloat16):
        return a.float() @ b.float()


def in_two_parts(a: Tensor, b: Tensor) -> Tensor:
    """Sum two halves in float32, as split-K kernels do."""
    half = a.shape[1] // 2
    return (a[:, :half].float() @ b[:half].float() + a[:, half:].float() @ b[half:].float()).bfloat16()


@dataclass(frozen=True)
class Kernels:
    """The products of a step: forward, of the gradients of inputs, and of the gradients of weights."""

    forward: Product = torch.mm
    inputs: Product = torch.mm
    weights: Product = torch.mm


RIGHT: dict[str, Product] = {
    "bfloat16": torch.mm,
    "bfloat16, `einsum`": lambda a, b: torch.einsum("ij,jk->ik", a, b),
    "bfloat16, `F.linear`": lambda a, b: functional.linear(a, b.T),
    "bfloat16, autocast": in_autocast,
    "bfloat16, split-K": in_two_parts,
}
CASES = {
    **{name: (Kernels(right, right, right), True) for name, right in RIGHT.items()},
    "int8, gradients of weights only": (Kernels(weights=in_int8), False),
    "int8, gradients of inputs and weights": (Kernels(inputs=in_int8, weights=in_int8), False),
    "int8, all": (Kernels(in_int8, in_int8, in_int8), False),
    "fp8, gradients of weights only": (Kernels(weights=in_fp8), False),
    "fp8, all": (Kernels(in_fp8, in_fp8, in_fp8), False),
}


def prepare(workload: str) -> tuple[Check, dict[str, Tensor]]:
    """Prepare a call of WIDTH, whose rate changes the weights as much as that of the whole size."""
    work = work_of(workload)
    whole = work.sizes["cuda"]
    rate = whole.rate * (WIDTH / whole.width) ** 0.5
    size = replace(whole, batch=WIDTH, width=WIDTH, outputs=whole.outputs and WIDTH, rate=rate)
    fields = work.fields(size, 1)
    room = torch.zeros(bytes_needed(fields), dtype=torch.uint8)
    memory = lay_out(fields, room, room)
    check = work.check(memory, memory, size)
    check.prepare()
    check.begun()
    check.refresh()
    return check, memory


def run_step(memory: dict[str, Tensor], rate: float, kernels: Kernels) -> None:
    """Take an SGD step and write the new weights."""
    x, target = memory["x"][0], memory["target"][0]
    layers, final = memory["layers"].clone(), memory["final"].clone()
    hidden = [x]
    for weight in layers:
        hidden.append(kernels.forward(hidden[-1], weight))
    error = ((hidden[-1] @ final).squeeze(-1) - target) * (2 / len(x))
    grad = torch.outer(error, final.squeeze(-1))
    final.sub_((hidden.pop().T @ error).unsqueeze(-1), alpha=rate)
    for weight in layers.flip(0).unbind():
        update = kernels.weights(hidden.pop().T, grad)
        if hidden:
            grad = kernels.inputs(grad, weight.T)
        memory["new_layers"][0, len(hidden)].copy_(weight - rate * update)
    memory["new_final"][0].copy_(final)


def compute_errors(kernels: Kernels) -> dict[str, tuple[float, float]]:
    """Return the error and the tolerance of each workload. The tolerance includes that of a baseline on the device."""
    found = {}
    for workload in ("linear_forward", "cruncher_step"):
        check, memory = prepare(workload)
        if workload == "linear_forward":
            memory["y"][0].copy_(kernels.forward(memory["x"][0], memory["weight"]))
        else:
            run_step(memory, check.size.rate, kernels)
        found[workload] = check.error(), check.floor
    return found


@pytest.fixture(scope="module")
def table() -> dict[str, list[str]]:
    return dict(read_table(HEADING))


@pytest.mark.parametrize("name", CASES)
def test_only_bfloat16_is_accurate_enough(
    name: str, table: dict[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(secrets, "randbits", Mock(side_effect=itertools.count(1)))  # the same numbers in each run
    kernels, right = CASES[name]
    row = table[name]
    for (workload, (error, tolerance)), cell in zip(compute_errors(kernels).items(), row[1:3], strict=True):
        assert error == pytest.approx(float(cell), rel=0.15), f"{workload}: {error:.2e}"
        if right:
            assert SPARE * error <= tolerance, workload
        elif workload == "cruncher_step" or kernels.forward is not torch.mm:
            assert error >= SPARE * tolerance, workload
    assert row[3] == ("right" if right else "wrong")

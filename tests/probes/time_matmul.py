"""Probes of time_matmul: on a machine whose time is pretended, and on this one."""

import random
from dataclasses import asdict
from typing import Any

import torch

from torchkata import typed

from .pretended_machine import Machine, OnDevice, pretending

LAUNCH, TICK = 1 / 20, 1 / 1000  # shares of a product
TICKS = 20  # of the clock, that may come on top of a product


@typed("time_matmul(torch.ones(m, k), torch.ones(k, n))")
def pretended(
    assignment: Any,
    m: int,
    k: int,
    n: int,
    seconds: float,
    first_takes_more: float = 0.0,
    on_gpu: bool = False,
    busy_seconds: float = 0.0,
    calendar_is_set: bool = False,
    disturbed: int | None = None,
) -> dict[str, object]:
    """The seconds that are said, what may come on top of them, and all that happened.

    A product of (m, k) and (k, n) takes about so many `seconds`, and the first one so many more; the GPU is busy
    with other work at the start; of each seven products the one at this place is `disturbed`, if any.
    """
    rng = random.Random(m)
    machine = Machine(
        seconds=[seconds * rng.uniform(0.95, 1.05) * (10 if i == disturbed else 1) for i in range(7)],
        flops=2 * m * k * n,
        first=first_takes_more,
        launch=LAUNCH * seconds,
        tick=TICK * seconds,
        on_gpu=on_gpu,
        busy=busy_seconds,
        steps=[rng.uniform(-1e4, 1e4) for _ in range(1009)] if calendar_is_set else [0.0],
    )
    a, b = torch.ones(m, k), torch.ones(k, n)
    if on_gpu:
        a, b = a.as_subclass(OnDevice), b.as_subclass(OnDevice)
    assignment.forget("time_matmul")  # it may keep clocks from when it is imported
    try:
        with pretending(machine):
            said = assignment.time_matmul.time_matmul(a, b)
    finally:
        assignment.forget("time_matmul")
    return {
        "seconds": said,
        "on_top": (TICK * TICKS + LAUNCH * on_gpu) * seconds,
        "products": [asdict(product) for product in machine.products],
        "looks": machine.looks,
        "flops": machine.flops,
        "busy": busy_seconds,
        "disturbed": calendar_is_set,
    }


@typed("time_matmul(torch.randn(m, k), torch.randn(k, n))")
def real(assignment: Any, m: int, k: int, n: int) -> dict[str, object]:
    """On this machine: the seconds, and both matrices before and after."""
    generator = torch.Generator().manual_seed(m)
    a, b = torch.randn(m, k, generator=generator), torch.randn(k, n, generator=generator)
    before = {"a": a.clone(), "b": b.clone()}
    return {"seconds": assignment.time_matmul.time_matmul(a, b), "before": before, "after": {"a": a, "b": b}}

"""Probes for time_matmul on a simulated machine and on this one."""

import random
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import torch

from torchkata import typed

from .simulated_machine import ANY_GPU, GPU, Machine, simulating

LAUNCH, TICK = 1 / 20, 1 / 1000  # as fractions of a product's duration
TICKS = 20  # number of clock reads that a result may include


def build_machine(
    m: int,
    k: int,
    n: int,
    seconds: float,
    *,
    first_takes_more: float = 0.0,
    on_gpu: bool = False,
    numbered: bool = True,
    busy_seconds: float = 0.0,
    calendar_is_set: bool = False,
    disturbed: int | None = None,
) -> Machine:
    """Return a machine on which the product of an (m, k) and a (k, n) matrix takes about `seconds`.

    The first product takes an additional `first_takes_more`. The GPU has other work for `busy_seconds` at the start. Of
    every seven products, the one at index `disturbed` takes ten times as long. Unless the device is `numbered`, it is
    torch.device("cuda"), which differs from that of any real tensor, "cuda:0".
    """
    rng = random.Random(m)
    return Machine(
        seconds=[seconds * rng.uniform(0.95, 1.05) * (10 if i == disturbed else 1) for i in range(7)],
        flops=2 * m * k * n,
        first=first_takes_more,
        launch=LAUNCH * seconds,
        tick=TICK * seconds,
        on_gpu=on_gpu,
        device=GPU if numbered else ANY_GPU,
        busy=busy_seconds,
        steps=[rng.uniform(-1e4, 1e4) for _ in range(1009)] if calendar_is_set else [0.0],
    )


def write_simulation(m: int, k: int, n: int, seconds: float, options: Mapping[str, Any] | None = None) -> str:
    """Return code that calls `time_matmul`. It is imported on the simulated machine, because it may import clocks."""
    given = "".join(f", {name}={value!r}" for name, value in (options or {}).items())
    device = ', device="cuda"' if options and options.get("on_gpu") else ""
    return "\n".join(
        [
            "from tests.probes.time_matmul import build_machine, simulating",
            f"with simulating(build_machine({m}, {k}, {n}, {seconds}{given})):",
            "    from assignment.time_matmul import time_matmul",
            f"    print(time_matmul(torch.ones({m}, {k}{device}), torch.ones({k}, {n}{device})))",
        ]
    )


@typed(write_simulation)
def simulate(
    assignment: Any, m: int, k: int, n: int, seconds: float, options: Mapping[str, Any] | None = None
) -> dict[str, object]:
    """Call `time_matmul` on a simulated machine, and return its result and a record of all events.

    The arguments are those of `build_machine`.
    """
    machine = build_machine(m, k, n, seconds, **(options or {}))
    a, b = torch.ones(m, k), torch.ones(k, n)
    del assignment.time_matmul  # the module may have stored references to clocks when it was imported
    try:
        with simulating(machine):
            here = (a.to("cuda"), b.to("cuda")) if machine.on_gpu else (a, b)
            result = assignment.time_matmul.time_matmul(*here)
    finally:
        del assignment.time_matmul
    return {
        "seconds": result,
        "on_top": (TICK * TICKS + LAUNCH * machine.on_gpu) * seconds,
        "products": [asdict(product) for product in machine.products],
        "looks": machine.looks,
        "flops": machine.flops,
        "busy": machine.busy,
        "disturbed": len(machine.steps) > 1,
        "modified": any(bool((matrix != 1).any()) for matrix in (a, b)),
    }


@typed("time_matmul(torch.randn(m, k), torch.randn(k, n))")
def run_here(assignment: Any, m: int, k: int, n: int) -> dict[str, object]:
    """Return the result on this machine, and both matrices before and after the call."""
    generator = torch.Generator().manual_seed(m)
    a, b = torch.randn(m, k, generator=generator), torch.randn(k, n, generator=generator)
    before = {"a": a.clone(), "b": b.clone()}
    return {"seconds": assignment.time_matmul.time_matmul(a, b), "before": before, "after": {"a": a, "b": b}}

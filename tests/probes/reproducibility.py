"""Probes for seed_everything: draws of all three libraries, and a small training run that uses them all."""

import os
import random
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import numpy as np
import torch
from torch import Tensor

from torchkata import typed

ELSEWHERE = 271828
INITIAL_SEEDS = "torch.initial_seed()"
CHANGED = "{library}'s generator is changed by a call"
DRAWN = ("seed_everything(seed)", "print(torch.randn(3), np.random.randn(3), random.gauss(0, 1))")
RUN = """
for seed in seeds:
    seed_everything(seed)
    w = torch.randn(x.shape[1])
    for i in np.random.permutation(len(x)):
        row = nn.functional.dropout(x[i], 0.2) + random.gauss(0, 0.1)
        w -= 0.05 * (row @ w - y[i]) * row
    print(w)
""".strip()


@typed(
    lambda seeds, between: "\n".join(
        [
            f"for seed in {seeds}:",
            *(["    torch.randn(1), np.random.randn(), random.gauss(0, 1)"] * between),
            *("    " + line for line in DRAWN),
        ]
    )
)
def draws(assignment: Any, seeds: list[int], between: int) -> dict[str, list[list[float]]]:
    """Return the draws of each library after each call. Before each call, make `between` other draws."""
    assignment.reproducibility.seed_everything(seeds[0] % 1000 + 5)  # another seed, independent of earlier probes
    torch.manual_seed(ELSEWHERE)
    np.random.seed(ELSEWHERE)
    random.seed(ELSEWHERE)
    drawn: dict[str, list[list[float]]] = {"torch": [], "NumPy": [], "random": [], INITIAL_SEEDS: []}
    states: dict[str, Callable[[], object]] = {
        "torch": lambda: torch.get_rng_state().tolist(),
        "NumPy": lambda: repr(np.random.get_state(legacy=False)),
        "random": random.getstate,
    }
    changed: dict[str, bool] = dict.fromkeys(states, False)
    for seed in seeds:
        for _ in range(between):
            torch.randn(1)
            np.random.randn()  # computes two numbers and caches the second, like random.gauss
            random.gauss(0, 1)
        before = {library: read() for library, read in states.items()}
        assignment.reproducibility.seed_everything(seed)
        for library, read in states.items():
            changed[library] |= read() != before[library]
        drawn[INITIAL_SEEDS].append([torch.initial_seed()])
        drawn["torch"].append([*torch.randn(3).tolist(), *torch.rand(2).tolist(), *torch.randperm(4).tolist()])
        drawn["NumPy"].append([*np.random.randn(3), *np.random.rand(2), *np.random.permutation(4).tolist()])
        drawn["random"].append([random.gauss(0, 1), random.random(), *random.sample(range(4), 4)])
    return drawn | {CHANGED.format(library=library): [[float(is_changed)]] for library, is_changed in changed.items()}


@typed("\n".join(DRAWN))
def draws_elsewhere(assignment: Any, seed: int) -> list[dict[str, list[list[float]]]]:
    """Return the draws after two calls in this process, and after two in a simulated other process."""
    kata, later = assignment.reproducibility, 10**4  # time limit in seconds
    here = draws(assignment, [seed, seed], 0)
    pretended = {
        (os, "getpid"): os.getpid() + 1,
        (time, "time"): time.time() + later,
        (time, "time_ns"): time.time_ns() + later * 10**9,
    }
    with ExitStack() as stack:
        for (module, name), value in pretended.items():
            stack.callback(setattr, module, name, getattr(module, name))
            setattr(module, name, lambda value=value: value)
        for builtin, other in {"hash": hash_elsewhere, "id": id_elsewhere}.items():
            if not hasattr(kata, builtin):
                stack.callback(delattr, kata, builtin)
                setattr(kata, builtin, other)
        return [here, draws(assignment, [seed, seed], 0)]


def hash_elsewhere(value: object) -> int:
    """Return a different hash for strings, as if called from another process."""
    parts = value if isinstance(value, tuple) else (value,)
    return hash((value, ELSEWHERE) if any(isinstance(part, (str, bytes)) for part in parts) else value)


def id_elsewhere(value: object) -> int:
    """Return a different id, as if called from another process."""
    return id(value) + ELSEWHERE


@typed(RUN)
def runs(assignment: Any, seeds: list[int], x: Tensor, y: Tensor) -> list[Tensor]:
    """Return the final weights of a small random training run for each seed."""
    ends = []
    for seed in seeds:
        assignment.reproducibility.seed_everything(seed)
        w = torch.randn(x.shape[1])
        for i in np.random.permutation(len(x)):
            row = torch.nn.functional.dropout(x[i], 0.2) + random.gauss(0, 0.1)
            w -= 0.05 * (row @ w - y[i]) * row
        ends.append(w)
    return ends

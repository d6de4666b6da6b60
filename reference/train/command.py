"""The `kata rates` command, which trains with the student's `train` at several learning rates and draws the losses."""

import math
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from reference import plots
from reference.plots import Axis

RATES = {0.001: ".", 0.01: "o", 0.1: "x", 1.0: "*"}  # the marker of each learning rate in the drawing
D, L, B, STEPS = 16, 2, 32, 100
LOWEST, HIGHEST = 1e-3, 1e2  # losses that the drawing shows
PICTURE = Path("rates.png")


def get_batch(*, B: int) -> tuple[Tensor, Tensor]:
    """Return random rows, and targets that are a linear function of the rows plus noise."""
    x = torch.randn(B, D)
    return x, x @ torch.linspace(-1, 1, D) + 0.1 * torch.randn(B)


def run(assignment: Any, texts: Mapping[str, str]) -> Iterator[str]:
    """Train with the same seed at each learning rate, and yield the lines of output."""
    yield texts["training"].format(D=D, L=L, B=B, steps=STEPS)
    curves: dict[float, list[float]] = {}
    for lr in RATES:
        torch.manual_seed(0)
        _, losses = assignment.train.train(get_batch, D=D, num_layers=L, B=B, num_train_steps=STEPS, lr=lr)
        curves[lr] = [float(loss) for loss in losses]
    yield ""
    yield from draw(curves)
    yield ""
    for lr, losses in curves.items():
        diverged = not math.isfinite(losses[-1])
        end = texts["diverged"] if diverged else texts["last"].format(loss=sum(losses[-10:]) / 10)
        yield f"  {RATES[lr]}  lr = {lr:<6g} {end}"
    yield ""
    if find_spec("matplotlib") is None:
        yield texts["no_matplotlib"]
    else:
        save(curves)
        yield texts["saved"].format(file=PICTURE)


def draw(curves: Mapping[float, Sequence[float]]) -> Iterator[str]:
    """Yield the lines of a plot of the losses with a logarithmic axis, drawn as text."""
    steps = [round(column * (STEPS - 1) / (plots.COLUMNS - 1)) for column in range(plots.COLUMNS)]
    marked = [(RATES[lr], [(step + 1, losses[step]) for step in steps]) for lr, losses in curves.items()]
    yield from plots.draw(marked, Axis("step", 1, STEPS, ".0f"), Axis("loss", LOWEST, HIGHEST, ".2g", is_log=True))


def save(curves: Mapping[float, Sequence[float]]) -> None:
    """Save the loss curves as an image."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    for lr, losses in curves.items():
        axes.semilogy(losses, label=f"lr = {lr:g}")
    axes.set_ylim(LOWEST, HIGHEST)
    axes.set_xlabel("step")
    axes.set_ylabel("loss")
    axes.grid(visible=True, alpha=0.2)
    axes.legend()
    figure.savefig(PICTURE, dpi=150)

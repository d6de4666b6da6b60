"""Draws the loss curve of `kata speak` in the terminal and as an image."""

import statistics
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from reference import plots
from reference.plots import COLUMNS, Axis


def average(losses: Sequence[float], parts: int) -> list[float]:
    """Return the means of `parts` consecutive pieces of the list, or of its single items if it is shorter."""
    parts = min(parts, len(losses))
    cuts = [len(losses) * i // parts for i in range(parts + 1)]
    return [statistics.fmean(losses[start:end]) for start, end in pairwise(cuts)]


def draw(losses: list[float]) -> Iterator[str]:
    """Yield the lines of the loss curve, drawn as text."""
    points = [*zip(average([*range(1, len(losses) + 1)], COLUMNS), average(losses, COLUMNS), strict=True)]
    low, high = min(loss for _, loss in points), max(loss for _, loss in points)
    steps = Axis("step", 1, max(2, len(losses)), ".0f")
    yield from plots.draw([("*", points)], steps, Axis("loss", low, high if high > low else low + 1, ".2f"))


def save_picture(losses: Sequence[tuple[int, float]], file: Path) -> None:
    """Save the loss curve as an image, given a list of (step, loss) pairs."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    numbers, values = [float(step) for step, _ in losses], [loss for _, loss in losses]
    axes.plot(numbers, values, color="lightgray", label="each step")
    axes.plot(average(numbers, COLUMNS), average(values, COLUMNS), color="black", label="mean")
    axes.set_xlabel("step")
    axes.set_ylabel("loss (nats per byte)")
    axes.grid(visible=True, alpha=0.2)
    axes.legend()
    figure.savefig(file, dpi=150)

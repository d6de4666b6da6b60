"""Draws the loss curve of `kata speak` in the terminal and as an image."""

import statistics
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

COLUMNS, LINES = 64, 12


def average(losses: list[float], parts: int) -> list[float]:
    """Return the means of `parts` consecutive pieces of the list, or the list itself if it is shorter."""
    parts = min(parts, len(losses))
    cuts = [len(losses) * i // parts for i in range(parts + 1)]
    return [statistics.fmean(losses[start:end]) for start, end in pairwise(cuts)]


def draw(losses: list[float]) -> Iterator[str]:
    """Yield the lines of the loss curve, drawn as text."""
    points = average(losses, COLUMNS)
    low, high = min(points), max(points)
    rows = [round((high - point) / (high - low or 1) * (LINES - 1)) for point in points]
    for line in range(LINES):
        label = f"{high - (high - low) * line / (LINES - 1):.2f}" if line in (0, LINES // 2, LINES - 1) else ""
        yield f"{label:>9} │{''.join('•' if row == line else ' ' for row in rows).rstrip()}"
    yield f"{'':9} └{'─' * COLUMNS}"
    yield f"{'':11}1{len(losses):>{COLUMNS - 1}}"


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

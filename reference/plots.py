"""Draws curves in the terminal, for the commands that measure and train. The characters are ASCII, without colors."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from plotille import Figure

COLUMNS, LINES = 52, 14  # with its labels, a plot fits into 80 columns
EMPTY = "\u2800"  # what plotille draws where nothing is


@dataclass(frozen=True)
class Axis:
    """An axis: its name, its limits, the format of its numbers, and whether it is logarithmic."""

    name: str
    low: float
    high: float
    form: str
    is_log: bool = False

    def locate(self, value: float) -> float:
        """Return the place of a value on the axis."""
        return math.log10(value) if self.is_log else value

    def find_limits(self, cells: int) -> tuple[float, float]:
        """Return the limits for plotille, whose cells are centered on their numbers. It omits what lies above them."""
        low, high = self.locate(self.low), self.locate(self.high)
        return low, high + (high - low) / (cells - 1)

    def describe(self, place: float) -> str:
        """Return the number at a place on the axis."""
        return format(10**place if self.is_log else place, self.form)


def draw(curves: Iterable[tuple[str, Sequence[tuple[float, float]]]], x: Axis, y: Axis) -> Iterator[str]:
    """Yield the lines of a plot of curves, each given by its marker and its points. Points beyond the axes are omitted.

    Later curves cover earlier ones.
    """
    figure = Figure()
    figure.width, figure.height, figure.origin, figure.with_colors = COLUMNS, LINES, False, False
    figure.x_label, figure.y_label = x.name, y.name
    figure.set_x_limits(*x.find_limits(COLUMNS))
    figure.set_y_limits(*y.find_limits(LINES))
    for marker, points in curves:
        shown = [point for point in points if x.low <= point[0] <= x.high and y.low <= point[1] <= y.high]
        if shown:
            figure.scatter([x.locate(one) for one, _ in shown], [y.locate(one) for _, one in shown], marker=marker)

    def describe(place: float, chars: int, delta: float, left: bool = False) -> str:  # noqa: ARG001
        return f"{x.describe(place):<{chars}}" if left else f"{y.describe(place):>{chars}}"

    figure.register_label_formatter(float, describe)
    title, _, *lines = figure.show().splitlines()  # the second line is the number above the highest cells
    for line in (title, *lines):
        yield line.replace(EMPTY, " ").rstrip()

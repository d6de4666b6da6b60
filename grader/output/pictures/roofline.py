"""The roofline: how fast a workload could run on a device at its intensity, and how fast it did.

After S. Williams, A. Waterman, D. Patterson, "Roofline: an insightful visual performance model", CACM 52 (2009).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import atan2, ceil, degrees, floor, inf, log10

from matplotlib.axes import Axes
from matplotlib.ticker import EngFormatter, StrMethodFormatter

from grader.output.pictures.svg import BLUE, FAINT, GREY, canvas, text_of

LINE = 12.0  # points from one label to the next


@dataclass(frozen=True)
class Point:
    """A workload: its name, FLOP a byte, FLOP a second."""

    workload: str
    intensity: float
    rate: float


def roofline(points: Sequence[Point], peak_flops: float | None, bandwidth: float | None, device_name: str) -> str:
    """An SVG, both axes logarithmic; of the roof (FLOP/s, bytes/s) what is known. Raises ValueError for no points."""
    intensities, rates = [point.intensity for point in points], [point.rate for point in points]
    low, high = 10.0 ** floor(log10(min(intensities))), 10.0 ** ceil(log10(max(intensities)) + 0.1)
    with canvas(8, 4.2) as (figure, axes):
        figure.subplots_adjust(left=0.12, right=0.97, top=0.92, bottom=0.13)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlim(low, high)
        axes.set_ylim(min(rates) / 10, max([*rates, peak_flops or 0.0]) * 3)
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axes.yaxis.set_major_formatter(EngFormatter(unit="FLOP/s"))
        axes.minorticks_off()
        axes.grid(color=FAINT, linewidth=0.4)
        axes.set_xlabel("FLOP for each byte that must be moved")
        axes.set_title(f"Roofline of {device_name}", loc="left", fontsize=10)
        draw_roof(axes, peak_flops, bandwidth, low, high)
        axes.plot(intensities, rates, "o", color=BLUE)
        label(axes, points)
        return text_of(figure, f"Roofline of {device_name}", description(points, peak_flops, bandwidth))


def draw_roof(axes: Axes, peak_flops: float | None, bandwidth: float | None, low: float, high: float) -> None:
    """The slope of the bandwidth up to the flat of the peak, each with its figure."""
    ridge = peak_flops / bandwidth if peak_flops and bandwidth else high if bandwidth else low
    corner = min(max(ridge, low), high)
    if bandwidth and low < corner:
        draw_line(axes, (low, low * bandwidth), (corner, corner * bandwidth), amount(bandwidth, "B/s"))
    if peak_flops and corner < high:
        draw_line(axes, (corner, peak_flops), (high, peak_flops), amount(peak_flops, "FLOP/s"))


def draw_line(axes: Axes, start: tuple[float, float], end: tuple[float, float], text: str) -> None:
    """A straight part of the roof, its figure along its middle."""
    axes.plot([start[0], end[0]], [start[1], end[1]], color=GREY)
    (x0, y0), (x1, y1) = axes.transData.transform([start, end])
    axes.annotate(
        text,
        ((start[0] * end[0]) ** 0.5, (start[1] * end[1]) ** 0.5),
        (0, 4),
        textcoords="offset points",
        ha="center",
        rotation=degrees(atan2(y1 - y0, x1 - x0)),
        rotation_mode="anchor",
    )


def label(axes: Axes, points: Sequence[Point]) -> None:
    """A name below each point and towards the middle; the nearer to an edge the lower, so that no leader crosses it."""
    scale = 72 / axes.figure.dpi  # points a pixel
    middle = axes.transAxes.transform((0.5, 0.5))[0]
    lowest = {"left": inf, "right": inf}
    placed = [(*axes.transData.transform((point.intensity, point.rate)), point) for point in points]
    for x, y, point in sorted(placed, key=lambda place: abs(place[0] - middle)):
        side = "left" if x < middle else "right"
        lowest[side] = min(y * scale - 1.5 * LINE, lowest[side] - LINE)
        axes.annotate(
            f"{point.workload}, {amount(point.rate, 'FLOP/s')}",
            (point.intensity, point.rate),
            (6 if side == "left" else -6, lowest[side] - y * scale),
            textcoords="offset points",
            ha=side,
            va="center",
            arrowprops={
                "arrowstyle": "-",
                "color": GREY,
                "linewidth": 0.6,
                "relpos": (0 if side == "left" else 1, 0.5),
                "shrinkA": 0,
            },
        )


def amount(value: float, unit: str) -> str:
    """To three digits: `732 TFLOP/s`."""
    return EngFormatter(unit=unit)(float(f"{value:.3g}"))


def description(points: Sequence[Point], peak_flops: float | None, bandwidth: float | None) -> str:
    """The picture in words."""
    roof = [f"peak {amount(peak_flops, 'FLOP/s')}"] if peak_flops else []
    roof += [f"bandwidth {amount(bandwidth, 'B/s')}"] if bandwidth else []
    placed = [f"{one.workload} {amount(one.rate, 'FLOP/s')} at {one.intensity:.3g} FLOP a byte" for one in points]
    return "; ".join([*roof, *placed]) + "."

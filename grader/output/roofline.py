"""Draws the roofline of a submission as SVG: how fast each workload could run on the device, and how fast it ran.

See S. Williams, A. Waterman, D. Patterson, "Roofline: an insightful visual performance model", CACM 52 (2009). The same
values always produce the same bytes. Text is not converted to paths, and is readable on white and black backgrounds.
"""

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from math import atan2, ceil, degrees, floor, inf, log10
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

from matplotlib import rc_context, rcdefaults, rcParams
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, StrMethodFormatter

from grader.output.speed_score import speed_score
from grader.results.result import PerformanceResult, read, write_whole
from torchkata.course import course

if TYPE_CHECKING:
    from torchkata.speed.workload import Rate, Roof

LINE = 12.0  # distance between labels, in points
GREY = "#7a7a7a"  # has a contrast ratio of 4.3 on white and 4.9 on black
FAINT = "#7a7a7a66"
BLUE = "#2a86c8"

STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "torchkata",
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.parse_math": False,  # dollar signs in names are not math
    "font.family": "sans-serif",
    "font.size": 9,
    "text.color": GREY,
    "axes.edgecolor": GREY,
    "axes.labelcolor": GREY,
    "xtick.color": GREY,
    "ytick.color": GREY,
}


@dataclass(frozen=True)
class Point:
    """A workload, with its arithmetic intensity (FLOP per byte) and its rate (FLOP/s)."""

    workload: str
    intensity: float
    rate: float


def draw_result(folder: Path) -> None:
    """Write `roofline.svg` next to `result.json` if any workload was measured.

    Raises ResultError if the result can't be loaded, or OSError if the figure can't be written.
    """
    result = read(folder / "result.json")
    timed = [one for one in result.performance if one.workload in course().workloads]
    if points := list(list_points(timed, result.device)):
        peak, bandwidth = measured_roof(timed, "compute"), measured_roof(timed, "bandwidth")
        device = result.environment.get("device", result.device)
        write_whole(folder / "roofline.svg", draw_roofline(points, peak, bandwidth, device).encode())


def list_points(timed: Sequence[PerformanceResult], kind: str) -> Iterator[Point]:
    """Yield a point for each workload that has a correct result and a known intensity on this kind of device."""
    for one, work in list_rates(timed):
        flops = next((work.intensity(size) for name, size in work.sizes.items() if name == kind), None)
        if speed_score(one) is not None and flops is not None and one.rate:
            yield Point(one.workload, flops, one.rate * (flops if one.unit == "B" else 1.0))


def measured_roof(timed: Sequence[PerformanceResult], roof: "Roof") -> float | None:
    """Return the rate that the baseline for this roof reached in the same run."""
    rates = (one.rate / one.ratio for one, work in list_rates(timed) if work.roof == roof and one.rate and one.ratio)
    return next(rates, None)


def list_rates(timed: Sequence[PerformanceResult]) -> Iterator[tuple[PerformanceResult, "Rate"]]:
    """Yield the workloads that are measured as a rate, or nothing if torch is not installed."""
    if find_spec("torch") is None:
        return
    from torchkata.speed.workload import Rate, work_of

    for one in timed:
        if one.workload in course().workloads and isinstance(work := work_of(one.workload), Rate):
            yield one, work


def draw_roofline(points: Sequence[Point], peak_flops: float | None, bandwidth: float | None, device_name: str) -> str:
    """Return a roofline as SVG. The peak (FLOP/s) and the bandwidth (bytes/s) are drawn if they are known.

    Raises ValueError if there are no points.
    """
    intensities, rates = [point.intensity for point in points], [point.rate for point in points]
    low, high = 10.0 ** floor(log10(min(intensities))), 10.0 ** ceil(log10(max(intensities)) + 0.1)
    with rc_context():
        rcdefaults()  # ignore the user's matplotlibrc
        rcParams.update(STYLE)
        figure = Figure(figsize=(8, 4.2))
        figure.subplots_adjust(left=0.12, right=0.97, top=0.92, bottom=0.13)
        axes = figure.subplots()
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlim(low, high)
        axes.set_ylim(min(rates) / 10, max([*rates, peak_flops or 0.0]) * 3)
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axes.yaxis.set_major_formatter(EngFormatter(unit="FLOP/s"))
        axes.minorticks_off()
        axes.grid(color=FAINT, linewidth=0.4)
        axes.set_xlabel("arithmetic intensity: FLOPs per byte that must be moved")
        axes.set_title(f"Roofline of {device_name}", loc="left", fontsize=10)
        draw_roof(axes, peak_flops, bandwidth, low, high)
        axes.plot(intensities, rates, "o", color=BLUE)
        draw_labels(axes, points)
        return to_svg(figure, f"Roofline of {device_name}", describe(points, peak_flops, bandwidth))


def draw_roof(axes: Axes, peak_flops: float | None, bandwidth: float | None, low: float, high: float) -> None:
    """Draw the slope for the bandwidth and the horizontal line for the peak, each labeled with its value."""
    ridge = peak_flops / bandwidth if peak_flops and bandwidth else high if bandwidth else low
    corner = min(max(ridge, low), high)
    if bandwidth and low < corner:
        draw_line(axes, (low, low * bandwidth), (corner, corner * bandwidth), format_amount(bandwidth, "B/s"))
    if peak_flops and corner < high:
        draw_line(axes, (corner, peak_flops), (high, peak_flops), format_amount(peak_flops, "FLOP/s"))


def draw_line(axes: Axes, start: tuple[float, float], end: tuple[float, float], text: str) -> None:
    """Draw a straight segment of the roof, with text centered along it."""
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


def draw_labels(axes: Axes, points: Sequence[Point]) -> None:
    """Draw the name of each point below it. Points closer to an edge have lower labels, so that no lines cross."""
    scale = 72 / axes.figure.dpi  # typographic points per pixel
    middle = axes.transAxes.transform((0.5, 0.5))[0]
    lowest = {"left": inf, "right": inf}
    placed = [(*axes.transData.transform((point.intensity, point.rate)), point) for point in points]
    for x, y, point in sorted(placed, key=lambda place: abs(place[0] - middle)):
        side = "left" if x < middle else "right"
        lowest[side] = min(y * scale - 1.5 * LINE, lowest[side] - LINE)
        axes.annotate(
            f"{point.workload}, {format_amount(point.rate, 'FLOP/s')}",
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


def format_amount(value: float, unit: str) -> str:
    """Return a value with three significant digits and its unit, such as `732 TFLOP/s`."""
    return EngFormatter(unit=unit)(float(f"{value:.3g}"))


def describe(points: Sequence[Point], peak_flops: float | None, bandwidth: float | None) -> str:
    """Return the alternative text of the figure."""
    roof = [f"peak {format_amount(peak_flops, 'FLOP/s')}"] if peak_flops else []
    roof += [f"bandwidth {format_amount(bandwidth, 'B/s')}"] if bandwidth else []
    placed = [
        f"{one.workload} {format_amount(one.rate, 'FLOP/s')} at {one.intensity:.3g} FLOP per byte" for one in points
    ]
    return "; ".join([*roof, *placed]) + "."


def to_svg(figure: Figure, title: str, description: str) -> str:
    """Return the figure as an `<svg>` element with a title and a description for screen readers."""
    out = io.StringIO()
    figure.savefig(out, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    _, start, rest = out.getvalue().partition("<svg ")
    attributes, _, content = rest.partition(">")
    head = f"<title>{escape(title)}</title>\n <desc>{escape(description)}</desc>"
    return f'{start}role="img" {attributes}>\n {head}{content}'

"""A picture of what each workload reached, beside what was asked.

Nothing of a student's words goes in: names come from the course, outcomes from a list.
"""

from collections.abc import Sequence

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from grader.output.pictures.svg import BLUE, GREEN, GREY, ORANGE, canvas, text_of
from grader.output.speed_score import SpeedScore, speed_score
from grader.results.result import REHEARSAL, PerformanceResult
from grader.results.text import in_words

COLOURS = {"all": GREEN, "some": BLUE, "none": ORANGE}
ROW, REST = 0.4, 1.0  # inches


def bars(results: Sequence[PerformanceResult], device: str) -> str:
    """An SVG with a bar for each workload: its share, the interval around it, its two thresholds.

    `device` is a name.
    """
    rows = [(result, speed_score(result)) for result in results]
    drawn = [(place, result, shown) for place, (result, shown) in enumerate(rows) if shown is not None]
    longest = max([1.0, *(max(shown.share, *shown.interval, shown.thresholds.full) for _, _, shown in drawn)])
    height = REST + ROW * len(rows)
    rehearsed = any(result.rehearsed for result in results)
    title = f"Speed on {device}" + (f": {REHEARSAL}" if rehearsed else "")
    with canvas(8, height) as (figure, axes):
        for place, result, shown in drawn:
            draw(axes, place, result, shown)
        for place, row in enumerate(rows):
            axes.text(1.02, place, words(*row), transform=axes.get_yaxis_transform(), va="center_baseline")
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.set_yticks(range(len(rows)), [result.workload for result in results])
        axes.tick_params(axis="y", length=0)
        axes.set_xlim(0, 1.02 * longest)
        axes.spines["left"].set_visible(False)
        axes.set_title(title, loc="left", fontsize=10)
        figure.subplots_adjust(left=0.2, right=0.69, top=1 - 0.3 / height, bottom=0.6 / height)
        marks = legend(rehearsed=rehearsed)
        figure.legend(handles=marks, loc="lower center", ncols=6, frameon=False, fontsize=8, columnspacing=1.2)
        return text_of(figure, title, " ".join(sentence(*row) for row in rows))


def draw(axes: Axes, place: int, result: PerformanceResult, shown: SpeedScore) -> None:
    """The bar of one workload, its thresholds and its whisker."""
    axes.barh(place, shown.share, 0.55, color=COLOURS[result.reached] if result.counts else GREY, alpha=0.5)
    axes.plot(shown.interval, (place, place), color=GREY, marker="|", markersize=8)
    for threshold, style in ((shown.thresholds.passing, ":"), (shown.thresholds.full, "-")):
        axes.vlines(threshold, place - 0.42, place + 0.42, color=GREY, linestyle=style, linewidth=2)


def words(result: PerformanceResult, shown: SpeedScore | None) -> str:
    """What a workload came to: `0.74 of the peak · 5 of 5 points`."""
    if shown is not None and result.counts:
        came_to = f"{shown.share:.2f} of the {shown.of}"
    else:
        came_to = in_words(result.outcome)
    if not result.counts or result.rehearsed:
        return came_to
    return f"{came_to} · {result.score:g} of {result.max_score:g} points"


def sentence(result: PerformanceResult, shown: SpeedScore | None) -> str:
    """One workload for those who can't see its bar."""
    most = "at most" if result.rehearsed else "for all points"
    asked = f" (asked: {shown.thresholds.passing:g}, {most} {shown.thresholds.full:g})" if shown else ""
    return f"{result.workload}: {words(result, shown)}{asked}."


def legend(*, rehearsed: bool) -> list[Artist]:
    """What the marks mean."""
    every, some = ("all reached", "passed") if rehearsed else ("all points", "some")
    none, from_here = ("not passed", "passed from here") if rehearsed else ("none", "some points from here")
    return [
        Patch(color=GREEN, alpha=0.5, label=every),
        Patch(color=BLUE, alpha=0.5, label=some),
        Patch(color=ORANGE, alpha=0.5, label=none),
        Line2D([], [], color=GREY, linestyle=":", linewidth=2, label=from_here),
        Line2D([], [], color=GREY, linewidth=2, label="all from here"),
        Line2D([], [], color=GREY, linewidth=1, marker="|", markersize=5, label="95 % interval"),
    ]

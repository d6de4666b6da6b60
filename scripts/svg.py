"""Writes simple drawings as SVG: texts, boxes, lines and curves with axes, in the colors of the reader's system."""

from collections.abc import Callable, Iterable, Sequence
from html import escape

WIDTH, CELL = 640, 44
STYLE = """
:root { --ink: #1f2328; --page: #fff; --edge: #59636e; --faint: #d1d9e0; --on: #b6d7ff; --off: #eff2f5;
  --c0: #0969da; --c1: #bc4c00; --c2: #1a7f37; --c3: #8250df }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --page: #151b23; --edge: #9198a1; --faint: #3d444d;
  --on: #1f4f8f; --off: #262c36; --c0: #58a6ff; --c1: #ffa657; --c2: #56d364; --c3: #d2a8ff } }
text { font: 14px system-ui, sans-serif; fill: var(--ink) } .small { font-size: 12px }
.middle { text-anchor: middle } .end { text-anchor: end } .page { fill: var(--page) }
.box { stroke: var(--edge) } .on { fill: var(--on) } .off { fill: var(--off) }
.line { fill: none; stroke: var(--edge) } .faint { stroke: var(--faint) } .curve { fill: none; stroke-width: 2.5 }
.s0 { stroke: var(--c0) } .s1 { stroke: var(--c1) } .s2 { stroke: var(--c2) } .s3 { stroke: var(--c3) }
.f0 { fill: var(--c0) } .f1 { fill: var(--c1) } .f2 { fill: var(--c2) } .f3 { fill: var(--c3) }
"""
Curve = Sequence[tuple[float, float]]


def text(x: float, y: float, words: object, look: str = "") -> str:
    """Return a text that begins at a point, or is centered there if its look is `middle`."""
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{look}">{escape(str(words))}</text>'


def box(x: float, y: float, width: float, height: float, look: str = "off") -> str:
    """Return a rectangle."""
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="3" class="box {look}"/>'


def line(points: Curve, look: str = "line") -> str:
    """Return a line through the points."""
    return f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}" class="{look}"/>'


def dot(x: float, y: float, look: str = "f0", radius: float = 4) -> str:
    """Return a filled circle."""
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" class="{look}"/>'


def grid(x: float, y: float, rows: Iterable[Iterable[object]], look: str = "off") -> Iterable[str]:
    """Yield a table of cells. True and False are shown as colors."""
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            shown = value if isinstance(value, bool) else None
            yield box(x + j * CELL, y + i * CELL, CELL, CELL, look if shown is None else "on" if shown else "off")
            if shown is None:
                yield text(x + (j + 0.5) * CELL, y + i * CELL + 27, value, "middle")


def plot(
    curves: dict[str, Curve], x: tuple[str, float, float], y: tuple[str, float, float], *, named_at_top: bool = False
) -> list[str]:
    """Return curves with axes, given by name and limits. Points are numbers on these axes.

    The name of a curve stands at its end, or at its highest point.
    """
    left, right, top, bottom = 70.0, WIDTH - 150.0, 30.0, 250.0
    place = scale((left, right), (bottom, top), x[1:], y[1:])
    drawn = [line([(left, top), (left, bottom), (right, bottom)]), text(right, bottom + 36, x[0], "small end")]
    drawn += [text(left, top - 10, y[0], "small"), text(left - 6, bottom, f"{y[1]:g}", "small end")]
    drawn += [text(left - 6, top + 10, f"{y[2]:g}", "small end"), text(left, bottom + 18, f"{x[1]:g}", "small middle")]
    drawn += [text(right, bottom + 18, f"{x[2]:g}", "small middle")]
    for number, (name, points) in enumerate(curves.items()):
        ends = [place(*point) for point in points]
        at = min(ends, key=lambda end: end[1]) if named_at_top else ends[-1]
        drawn += [
            line(ends, f"curve s{number}"),
            text(at[0] + 8, at[1] + (-4 if named_at_top else 5), name, f"small f{number}"),
        ]
    return drawn


def scale(
    across: tuple[float, float], up: tuple[float, float], x: tuple[float, float], y: tuple[float, float]
) -> Callable[[float, float], tuple[float, float]]:
    """Return a function from numbers on two axes to a point of the picture."""

    def place(one: float, other: float) -> tuple[float, float]:
        return stretch(one, x, across), stretch(other, y, up)

    return place


def stretch(value: float, limits: tuple[float, float], ends: tuple[float, float]) -> float:
    """Return the place of a value between two ends."""
    return ends[0] + (ends[1] - ends[0]) * (value - limits[0]) / (limits[1] - limits[0])


def render(title: str, width: float, height: float, parts: Iterable[str]) -> str:
    """Return a drawing with a title for screen readers. Its own background makes it readable on every page."""
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">'
    page = f'<rect width="{width}" height="{height}" rx="8" class="page"/>'
    return "\n".join([head, f"<title>{escape(title)}</title><style>{STYLE}</style>{page}", *parts, "</svg>\n"])

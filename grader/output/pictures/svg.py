"""Figures as SVG: the same bytes every time, text as text, readable on white and on black."""

import io
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any
from xml.sax.saxutils import escape

from matplotlib import rc_context, rcdefaults, rcParams
from matplotlib.axes import Axes
from matplotlib.figure import Figure

GREY = "#7a7a7a"  # of text and lines: contrast 4.3 with white, 4.9 with black
FAINT = "#7a7a7a66"
BLUE = "#2a86c8"

STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "torchkata",
    "text.parse_math": False,  # a dollar in a name is a dollar
    "font.family": "sans-serif",
    "font.size": 9,
    "text.color": GREY,
    "axes.edgecolor": GREY,
    "axes.labelcolor": GREY,
    "xtick.color": GREY,
    "ytick.color": GREY,
}


@contextmanager
def canvas(width: float, height: float) -> Generator[tuple[Figure, Axes], None, None]:
    """A figure of so many inches, with one pair of axes and nothing behind; no state is left in matplotlib."""
    with rc_context():
        rcdefaults()  # whatever this user's own matplotlibrc says
        rcParams.update(STYLE)
        figure = Figure(figsize=(width, height))
        figure.patch.set_alpha(0)
        axes = figure.subplots()
        axes.patch.set_alpha(0)
        axes.spines[["top", "right"]].set_visible(False)
        yield figure, axes


def text_of(figure: Figure, title: str, description: str) -> str:
    """The figure as an `<svg>` element that says what it shows to those who can't see it."""
    out = io.StringIO()
    figure.savefig(out, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    _, start, rest = out.getvalue().partition("<svg ")
    attributes, _, content = rest.partition(">")
    head = f"<title>{escape(title)}</title>\n <desc>{escape(description)}</desc>"
    return f'{start}role="img" {attributes}>\n {head}{content}'

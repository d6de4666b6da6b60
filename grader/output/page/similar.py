"""`similar.html`: the pairs of a class that are most alike, each side by side; `similar.csv`: the same as a table."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from grader.output.gradebook import Cell, csv_of
from grader.output.page.html import templates
from grader.pipeline.similarity.grams import Gram, grams_of
from grader.pipeline.similarity.pairs import SAME, Compared, Comparison, Pair
from grader.results.result import write_whole

PAGE = "similar.html"
TABLE = "similar.csv"
SIDE_BY_SIDE = 6  # katas of a pair, the most telling ones
LEAST_BITS = 1.0  # that a kata must weigh to be shown
RARE = 0.1  # of a class at most: what so few have is marked as rare

Mark: TypeAlias = Literal["", "both", "rare"]
Grams: TypeAlias = Mapping[Gram, set[int]]
SourceOf: TypeAlias = Callable[[str, str], bytes]


@dataclass(frozen=True)
class Side:
    """A source, line by line."""

    submission: str
    lines: list[tuple[str, Mark]]


@dataclass(frozen=True)
class Shown:
    """A kata of a pair, side by side."""

    kata: str
    share: float
    bits: float
    sides: tuple[Side, Side]


def write_page(found: Comparison, count: int, source_of: SourceOf, directory: Path) -> None:
    """Store page and table. Raises OSError."""
    katas = {kata.kata: kata for kata in found.katas}
    html = (
        templates()
        .get_template("similar.html")
        .render(
            found=found,
            count=count,
            SAME=SAME,
            short=[kata for kata in found.katas if kata.too_short],
            unparsed={kata.kata: kata.unparsed for kata in found.katas if kata.unparsed},
            pairs=((pair, side_by_side(pair, katas, source_of)) for pair in found.pairs),
        )
    )
    write_whole(directory / PAGE, html.encode())
    rows: list[list[Cell]] = [[one.first, one.second, round(one.bits, 2), told(one)] for one in found.pairs]
    write_whole(directory / TABLE, csv_of([["first", "second", "bits", "katas"], *rows]))


def told(pair: Pair) -> str:
    """The katas of a pair in a cell."""
    return ", ".join(f"{one.kata} {one.bits:.2f}" for one in pair.katas)


def side_by_side(pair: Pair, katas: Mapping[str, Compared], source_of: SourceOf) -> list[Shown]:
    """The katas that say most, each with what both have marked."""
    found = []
    for one in pair.katas[:SIDE_BY_SIDE]:
        if one.bits >= LEAST_BITS:
            sources = [source_of(submission, one.kata) for submission in (pair.first, pair.second)]
            left, right = (grams_of(source) for source in sources)
            sides = (
                Side(pair.first, marked(sources[0], left, right, katas[one.kata])),
                Side(pair.second, marked(sources[1], right, left, katas[one.kata])),
            )
            found.append(Shown(one.kata, one.share, one.bits, sides))
    return found


def marked(source: bytes, here: Grams, there: Grams, kata: Compared) -> list[tuple[str, Mark]]:
    """The lines of a source; those that the other has, too, are marked, but for what the stub has."""
    marks: dict[int, Mark] = {}
    for gram in here.keys() & there.keys() & kata.index.keys():
        few = kata.counts[kata.index[gram]] <= max(2, RARE * len(kata.runs))
        for line in here[gram]:
            marks[line] = "rare" if few or marks.get(line) == "rare" else "both"
    text = source.decode("utf-8-sig", "replace").rstrip()
    return [(line, marks.get(number, "")) for number, line in enumerate(re.split(r"\r\n|\r|\n", text), start=1)]

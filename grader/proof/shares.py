"""The share of a kata's points that each wrong entry loses: a mistake should fail only the tests that check for it.

reference/costly.toml lists the entries that lose more than `MAX_SHARE`, by reason:

    ["every answer is wrong"]
    linear = ["adds_a_bias", "squared"]
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import median
from typing import TypeAlias

from rich import box
from rich.table import Table

from grader.results.result import KataResult
from torchkata.course import Kata, course
from torchkata.course.load import read_toml

MAX_SHARE = 1 / 3
COSTLY = "costly.toml"

Shares: TypeAlias = Mapping[str, Mapping[str, float]]  # by kata and entry


def measure_share(kata: Kata, result: KataResult) -> float | None:
    """Return the share of a kata's points that a result loses, or None if not all tests ran."""
    passed = {test.name: test.outcome == "passed" for test in result.tests}
    if passed.keys() != kata.points.keys():
        return None
    return sum(points for name, points in kata.points.items() if not passed[name]) / sum(kata.points.values())


def read_costly() -> dict[str, dict[str, str]]:
    """Return the reasons why entries may lose more than `MAX_SHARE`, keyed by kata and then by entry."""
    path = course().reference / COSTLY
    found: dict[str, dict[str, str]] = {}
    for reason, katas in (read_toml(path) if path.is_file() else {}).items():
        for kata, names in katas.items():
            found.setdefault(kata, {}).update(dict.fromkeys(names, reason))
    return found


def find_unfair(kata: str, shares: Mapping[str, float], entries: Iterable[str]) -> Iterator[str]:
    """Yield a line for each unlisted entry that loses too many points, and for each listed entry that does not exist.

    A kata that the list does not name is not checked. To check a kata without exceptions, list `kata = []`.

    Args:
        kata: The kata's name.
        shares: The shares of the entries with complete test runs.
        entries: The names of all wrong entries of the kata.
    """
    listed = read_costly().get(kata)
    for name, share in shares.items():
        if listed is not None and share > MAX_SHARE and name not in listed:
            yield (
                f"points: wrong {kata} {name} loses {share:.0%} of the points, but at most {MAX_SHARE:.0%} would be "
                "fair: draw inputs on which it fails only the tests about its mistake, or list it with a reason in "
                f"{COSTLY}"
            )
    for name in (listed or {}).keys() - {*entries}:
        yield f"points: {COSTLY} lists {kata} {name}, which is not in wrong.toml: delete it"


def tabulate_shares(shares: Shares, katas: Sequence[Kata], entries: Mapping[str, int]) -> Table:
    """Return a table of the median and the largest share by kata; `entries` counts the wrong entries of each kata."""
    columns = ("measured", "median", "worst", f"above {MAX_SHARE:.0%}", "of these listed")
    table = Table("points lost by a wrong entry", *columns, box=box.SIMPLE_HEAD)
    for kata in katas:
        own, listed = shares.get(kata.name, {}), read_costly().get(kata.name, {})
        above = [name for name, share in own.items() if share > MAX_SHARE]
        worst = max(own, key=lambda name: own[name], default="")
        table.add_row(
            kata.name,
            f"{len(own)}/{entries.get(kata.name, 0)}",
            f"{median(own.values()):.0%}" if own else "",
            f"{own[worst]:.0%} {worst}" if own else "",
            str(len(above)) if own else "",
            str(sum(name in listed for name in above)) if own else "",
        )
    return table

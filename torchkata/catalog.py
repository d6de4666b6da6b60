"""The katas by track, and the workloads that time them: titles, hints, points, all read from `catalog.toml`."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

ROOT = Path(__file__).resolve().parent.parent

Visibility: TypeAlias = Literal["visible", "after_due_date", "after_published", "hidden"]
HiddenSays: TypeAlias = Literal["nothing", "claim", "all"]


@dataclass(frozen=True)
class Track:
    """Katas that belong together; their points sum to 100."""

    name: str
    title: str


@dataclass(frozen=True)
class Kata:
    """One kata: one stub, one file of tests."""

    name: str
    title: str
    track: str
    builds_on: tuple[str, ...]
    hints: tuple[str, ...]  # from gentle to plain
    points: dict[str, float]  # by the name of the test, in the order of the file
    visibility: dict[str, Visibility]  # of every test, by its name
    hidden_says: HiddenSays  # what a student may read of a test that is not visible
    numeric: bool = True  # its answers are numbers that the oracle computes, so that a mistake shows in them

    @property
    def max_score(self) -> float:
        """The points of all tests together."""
        return sum(self.points.values())


@dataclass(frozen=True)
class Tiers:
    """How much of what a device can do earns the points for passing, and how much earns all."""

    passing: float
    full: float


@dataclass(frozen=True)
class Workload:
    """One thing that is timed."""

    name: str
    title: str
    uses: tuple[str, ...]  # the katas whose code runs in it
    points: Tiers
    ratio: dict[str, Tiers]  # by the kind of device: of the yardstick that runs beside it
    mfu: Tiers | None  # of the datasheet's peak, on devices whose thresholds were measured


@dataclass(frozen=True)
class Limits:
    """What a student's process may use under the grader."""

    call_seconds: float
    test_seconds: float
    kata_seconds: float
    memory_mib: int


@dataclass(frozen=True)
class Catalog:
    """All tracks, katas and workloads, in order."""

    tracks: dict[str, Track]
    katas: dict[str, Kata]
    workloads: dict[str, Workload]
    limits: Limits

    def foundations(self, name: str) -> list[str]:
        """What `name` builds on, directly or not, in order."""
        needed = {name}
        for kata in reversed(self.katas.values()):
            if kata.name in needed:
                needed.update(kata.builds_on)
        return [kata for kata in self.katas if kata in needed - {name}]

    def dependents(self, name: str) -> list[str]:
        """What builds on `name`, directly or not, in order."""
        return [kata for kata in self.katas if name in self.foundations(kata)]

    def choose(self, names: Sequence[str], tracks: Sequence[str] = ()) -> list[Kata]:
        """The katas of these names and of these tracks in the catalog's order, all for neither.

        One text may name several, with commas between; the track `all` is all of them. Raises ValueError for a name
        that there is not.
        """
        chosen = {name for text in names for name in text.split(",")}
        themes = {name for text in tracks for name in text.split(",")}
        if unknown := chosen - self.katas.keys():
            raise ValueError(f"there is no kata {min(unknown)!r}; the katas are {', '.join(self.katas)}")
        if unknown := themes - self.tracks.keys() - {"all"}:
            raise ValueError(f"there is no track {min(unknown)!r}; the tracks are {', '.join(self.tracks)} (or all)")
        everything = "all" in themes or not (chosen or themes)
        return [kata for kata in self.katas.values() if everything or kata.name in chosen or kata.track in themes]


@cache
def catalog() -> Catalog:
    """Read `catalog.toml`. Raises ValueError for a visibility that there is not."""
    table: dict[str, Any] = tomllib.loads(Path(__file__).with_name("catalog.toml").read_text("utf-8"))
    tracks = [Track(**entry) for entry in table["track"]]
    katas = [kata_from(entry) for entry in table["kata"]]
    workloads = [workload_from(entry) for entry in table.get("workload", [])]
    return Catalog(
        {track.name: track for track in tracks},
        {kata.name: kata for kata in katas},
        {workload.name: workload for workload in workloads},
        Limits(**table["limits"]),
    )


def kata_from(entry: dict[str, Any]) -> Kata:
    """One table of the catalog. Raises ValueError for a visibility that there is not."""
    return Kata(
        name=entry["name"],
        title=entry["title"],
        track=entry["track"],
        builds_on=tuple(entry["builds_on"]),
        hints=tuple(entry["hints"]),
        points=entry["points"],
        visibility=visibility_of(entry),
        hidden_says=one_of(get_args(HiddenSays), entry.get("hidden_says", "nothing"), f"{entry['name']}: hidden_says"),
        numeric=entry.get("numeric", True),
    )


def workload_from(entry: dict[str, Any]) -> Workload:
    """One table of the catalog."""
    return Workload(
        name=entry["name"],
        title=entry["title"],
        uses=tuple(entry["uses"]),
        points=Tiers(**entry["points"]),
        ratio={kind: Tiers(**tiers) for kind, tiers in entry["ratio"].items()},
        mfu=Tiers(**entry["mfu"]) if "mfu" in entry else None,
    )


def visibility_of(entry: dict[str, Any]) -> dict[str, Visibility]:
    """Who sees each test of a kata: one word for all of them, or a table of those that are not visible."""
    given, where = entry.get("visibility", "visible"), f"{entry['name']}: visibility"
    chosen = given if isinstance(given, dict) else dict.fromkeys(entry["points"], given)
    if unknown := chosen.keys() - entry["points"].keys():
        raise ValueError(f"catalog.toml: {where} names {min(unknown)}, which is no test of it")
    return {test: one_of(get_args(Visibility), chosen.get(test, "visible"), where) for test in entry["points"]}


def one_of(allowed: tuple[str, ...], given: object, where: str) -> Any:
    """What was given, if it is allowed. Raises ValueError."""
    if given not in allowed:
        raise ValueError(f"catalog.toml: {where} is {given!r}; it can be {', '.join(allowed)}")
    return given

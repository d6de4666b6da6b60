"""The katas: order, title, points and what each builds on, read from `catalog.toml` and from nowhere else."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Kata:
    """One kata: one stub, one file of tests."""

    name: str
    title: str
    theme: str
    builds_on: tuple[str, ...]
    points: dict[str, float]  # by the name of the test, in the order of the file

    @property
    def max_score(self) -> float:
        """The points of all tests together."""
        return sum(self.points.values())


@dataclass(frozen=True)
class Limits:
    """What a student's process may use under the grader."""

    call_seconds: float
    test_seconds: float
    kata_seconds: float
    memory_mib: int


@dataclass(frozen=True)
class Catalog:
    """All katas, in order."""

    katas: dict[str, Kata]
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

    def choose(self, names: list[str] | tuple[str, ...]) -> list[Kata]:
        """The katas of these names in the catalog's order, all for none. Raises ValueError for an unknown one."""
        for name in names:
            if name not in self.katas:
                raise ValueError(f"there is no kata {name!r}; the katas are {', '.join(self.katas)}")
        return [kata for kata in self.katas.values() if not names or kata.name in names]


@cache
def catalog() -> Catalog:
    """Read `catalog.toml`."""
    table: dict[str, Any] = tomllib.loads(Path(__file__).with_name("catalog.toml").read_text("utf-8"))
    katas = [
        Kata(entry["name"], entry["title"], entry["theme"], tuple(entry["builds_on"]), entry["points"])
        for entry in table["kata"]
    ]
    return Catalog({kata.name: kata for kata in katas}, Limits(**table["limits"]))

"""The corpus of cheats on speed: slow solutions, and what makes them look fast.

In `reference/workloads/`:
slow/<kata>.toml       right and too slow, each a table (`SlowEntry`): its code stands below the solution
cheats/<class>.toml    cheats of one class, each a table (`CheatEntry`): its code stands below a slow solution, so that
                       without it the workload fails, and its honest control below the right one
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from grader.base.errors import CallError
from grader.proof import zoo
from grader.proof.attacks import below, read_corpus, with_file
from torchkata.course import Kata, Workload, course


class SlowEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A slow solution as it is written down."""

    workload: str
    words: str
    code: str


class CheatEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A cheat as it is written down."""

    aim: str
    slow: str  # kata/name of the slow solution that it stands below
    code: str
    control: str
    earns: str = ""  # why it may have what it earns: it does the work
    open: str = ""  # why nothing here stops it


@dataclass(frozen=True)
class Slow:
    """A solution that is right, and fails a workload by what it costs."""

    title: str  # kata/name
    kata: Kata
    workload: Workload
    source: str  # of the kata's file

    def files(self) -> dict[str, bytes]:
        """Return the submission."""
        return with_file(self.kata, self.source)


@dataclass(frozen=True)
class Cheat:
    """A cheat, ready to be handed in."""

    title: str  # class/name
    entry: CheatEntry
    slow: Slow

    def files(self) -> dict[str, bytes]:
        """Return the slow solution with the hostile code."""
        return with_file(self.slow.kata, below(self.slow.source, self.entry.code))

    def control(self) -> dict[str, bytes]:
        """Return the right solution with the honest code."""
        return with_file(self.slow.kata, below(zoo.solution(self.slow.kata), self.entry.control))


def slow_ones(katas: Sequence[Kata], folder: Path | None = None) -> dict[str, Slow]:
    """Return the slow solutions of these katas, by title. Raises CallError for one that can't be made."""
    found = {}
    for kata in katas:
        path = (folder or course().reference / "workloads/slow") / f"{kata.name}.toml"
        for name, entry in read_corpus(path, SlowEntry).items():
            title, workload = f"{kata.name}/{name}", course().workloads.get(entry.workload)
            if workload is None or kata.name not in workload.uses:
                raise CallError(f"{title}: {kata.name} is not timed on a workload {entry.workload!r}")
            found[title] = Slow(title, kata, workload, below(zoo.solution(kata), entry.code))
    return found


def cheats(katas: Sequence[Kata], folder: Path | None = None) -> Iterator[Cheat]:
    """Yield the cheats that are placed in these katas. Raises CallError for one that can't be made."""
    slow = slow_ones(list(course().katas.values()))
    for path in sorted((folder or course().reference / "workloads/cheats").glob("*.toml")):
        for name, entry in read_corpus(path, CheatEntry).items():
            title = f"{path.stem}/{name}"
            if entry.slow not in slow:
                raise CallError(f"{title}: the zoo has no slow {entry.slow!r}")
            if slow[entry.slow].kata in katas:
                yield Cheat(title, entry, slow[entry.slow])

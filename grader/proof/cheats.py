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

    kata: Kata
    name: str
    entry: SlowEntry

    @property
    def title(self) -> str:
        """`kata/name`."""
        return f"{self.kata.name}/{self.name}"

    @property
    def workload(self) -> Workload:
        """What it is timed on."""
        return course().workloads[self.entry.workload]

    @property
    def source(self) -> str:
        """The kata's file."""
        return below(zoo.solution(self.kata), self.entry.code)

    def files(self) -> dict[str, bytes]:
        """What is handed in."""
        return with_file(self.kata, self.source)


@dataclass(frozen=True)
class Cheat:
    """A cheat, ready to be handed in."""

    group: str  # the class
    name: str
    entry: CheatEntry
    slow: Slow

    @property
    def title(self) -> str:
        """`class/name`."""
        return f"{self.group}/{self.name}"

    def files(self) -> dict[str, bytes]:
        """The slow solution with the hostile code."""
        return with_file(self.slow.kata, below(self.slow.source, self.entry.code))

    def control(self) -> dict[str, bytes]:
        """The right solution with the honest code."""
        return with_file(self.slow.kata, below(zoo.solution(self.slow.kata), self.entry.control))


def slow_ones(katas: Sequence[Kata], folder: Path | None = None) -> dict[str, Slow]:
    """The slow solutions of these katas, by title. Raises CallError for one that can't be made."""
    found = {}
    for kata in katas:
        path = (folder or course().reference / "workloads/slow") / f"{kata.name}.toml"
        for name, entry in read_corpus(path, SlowEntry).items():
            slow = Slow(kata, name, entry)
            workload = course().workloads.get(entry.workload)
            if workload is None or kata.name not in workload.uses:
                raise CallError(f"{slow.title}: {kata.name} is not timed on a workload {entry.workload!r}")
            found[slow.title] = slow
    return found


def cheats(katas: Sequence[Kata], folder: Path | None = None) -> Iterator[Cheat]:
    """The cheats that are placed in these katas. Raises CallError for one that can't be made."""
    chosen, slow = {kata.name for kata in katas}, slow_ones(list(course().katas.values()))
    for path in sorted((folder or course().reference / "workloads/cheats").glob("*.toml")):
        for name, entry in read_corpus(path, CheatEntry).items():
            if entry.slow not in slow:
                raise CallError(f"{path.stem}/{name}: the zoo has no slow {entry.slow!r}")
            cheat = Cheat(path.stem, name, entry, slow[entry.slow])
            if cheat.slow.kata.name in chosen:
                yield cheat

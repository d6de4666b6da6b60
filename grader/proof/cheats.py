"""The corpus of cheats on speed: submissions that try to appear faster than they are, in `reference/workloads/`.

slow/<kata>.toml       right but too slow solutions, each a table (`SlowEntry`) with code appended to the solution
cheats/<class>.toml    cheats of one class, each a table (`CheatEntry`) with code appended to a slow solution, which
                       fails its workload without the cheat, and an honest control appended to the right solution
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from grader.base.errors import CallError
from grader.proof import zoo
from grader.proof.attacks import append_code, read_corpus, replace_kata
from torchkata.course import Kata, Workload, course


class SlowEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table of a slow solution."""

    workload: str
    words: str
    code: str


class CheatEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table of a cheat."""

    aim: str
    slow: str  # kata/name of the slow solution that the code is appended to
    code: str
    control: str
    earns: str = ""  # why its points are legitimate
    open: str = ""  # why no defence stops it


@dataclass(frozen=True)
class Slow:
    """A right solution that is too slow for a workload."""

    title: str  # kata/name
    kata: Kata
    workload: Workload
    source: str  # source of the kata's file

    def make_files(self) -> dict[str, bytes]:
        """Return the files of the submission."""
        return replace_kata(self.kata, self.source)


@dataclass(frozen=True)
class Cheat:
    """A cheat that can be submitted."""

    title: str  # class/name
    entry: CheatEntry
    slow: Slow

    def make_files(self) -> dict[str, bytes]:
        """Return the slow solution with the hostile code."""
        return replace_kata(self.slow.kata, append_code(self.slow.source, self.entry.code))

    def make_control(self) -> dict[str, bytes]:
        """Return the right solution with the honest code."""
        return replace_kata(self.slow.kata, append_code(zoo.read_solution(self.slow.kata), self.entry.control))


def load_slow(katas: Sequence[Kata], folder: Path | None = None) -> dict[str, Slow]:
    """Return the slow solutions of the katas by title. Raises CallError for an invalid entry."""
    found = {}
    for kata in katas:
        path = (folder or course().reference / "workloads/slow") / f"{kata.name}.toml"
        for name, entry in read_corpus(path, SlowEntry).items():
            title, workload = f"{kata.name}/{name}", course().workloads.get(entry.workload)
            if workload is None or kata.name not in workload.uses:
                raise CallError(f"{title}: {kata.name} has no workload {entry.workload!r}")
            found[title] = Slow(title, kata, workload, append_code(zoo.read_solution(kata), entry.code))
    return found


def load_cheats(katas: Sequence[Kata], folder: Path | None = None) -> Iterator[Cheat]:
    """Yield the cheats on the katas. Raises CallError for an invalid entry."""
    slow = load_slow(list(course().katas.values()))
    for path in sorted((folder or course().reference / "workloads/cheats").glob("*.toml")):
        for name, entry in read_corpus(path, CheatEntry).items():
            title = f"{path.stem}/{name}"
            if entry.slow not in slow:
                raise CallError(f"{title}: there is no slow solution {entry.slow!r}")
            if slow[entry.slow].kata in katas:
                yield Cheat(title, entry, slow[entry.slow])

"""The corpus of speed cheats in `reference/workloads/`: submissions that try to appear faster than they are.

slow/<kata>.toml       correct but slow solutions, each a table (`SlowEntry`) with code appended to the solution
cheats/<class>.toml    cheats of one class, each a table (`CheatEntry`) with code appended to a slow solution, which
                       fails its workload without the cheat, and an honest control appended to the correct solution
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
    """A table in a TOML file that defines a slow solution."""

    workload: str
    words: str
    code: str


class CheatEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table in a TOML file that defines a cheat."""

    aim: str
    slow: str  # kata/name of the slow solution to which the code is appended
    code: str
    control: str
    earns: str = ""  # why the cheat earns its points legitimately
    open: str = ""  # why no defense prevents the cheat


@dataclass(frozen=True)
class Slow:
    """A correct solution that is too slow for a workload."""

    title: str  # kata/name
    kata: Kata
    workload: Workload
    source: str  # source code of the kata's file

    def make_files(self) -> dict[str, bytes]:
        """Return the files of the submission."""
        return replace_kata(self.kata, self.source)


@dataclass(frozen=True)
class Cheat:
    """A cheat, in a form that can be submitted."""

    title: str  # class/name
    entry: CheatEntry
    slow: Slow

    def make_files(self) -> dict[str, bytes]:
        """Return the slow solution with the malicious code."""
        return replace_kata(self.slow.kata, append_code(self.slow.source, self.entry.code))

    def make_control(self) -> dict[str, bytes]:
        """Return the correct solution with the honest code."""
        return replace_kata(self.slow.kata, append_code(zoo.read_solution(self.slow.kata), self.entry.control))


def load_slow(katas: Sequence[Kata], folder: Path | None = None) -> dict[str, Slow]:
    """Return the slow solutions of these katas, keyed by title. Raises CallError if an entry is invalid."""
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
    """Yield the cheats on these katas. Raises CallError if an entry is invalid."""
    slow = load_slow(list(course().katas.values()))
    for path in sorted((folder or course().reference / "workloads/cheats").glob("*.toml")):
        for name, entry in read_corpus(path, CheatEntry).items():
            title = f"{path.stem}/{name}"
            if entry.slow not in slow:
                raise CallError(f"{title}: there is no slow solution {entry.slow!r}")
            if slow[entry.slow].kata in katas:
                yield Cheat(title, entry, slow[entry.slow])

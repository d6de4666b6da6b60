"""The attack corpus: hostile submissions, each with its aim and an honest control that does something similar.

`reference/attacks/<class>.toml` has the attacks of one class, each a table (`Entry`). What is handed in is a wrong
solution with the hostile code below it, so that without the trick it earns what the wrong one earns. A trick that is
after something other than points answers right where it got it: then it shows.
"""

import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from grader.base.errors import CallError
from grader.pipeline.submission import Submission
from grader.proof import zoo
from grader.proof.archives import BUILDERS
from grader.proof.reception import Received, receive
from torchkata.course import Kata, course

Level = Literal["bwrap", "none"]


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An attack as it is written down."""

    aim: str
    wrong: str  # kata/name of the wrong solution in the zoo that it stands below
    code: str = ""
    control: str = ""  # what the honest control has below the right solution
    archive: str = ""  # instead of both: what builds the archive …
    control_archive: str = ""  # … and the control's
    before: str = ""  # stands below the right solution, which is graded right before, by the same zygote
    beside: str = ""  # the same, graded at the same time
    levels: tuple[Level, ...] = ("bwrap", "none")  # where it may be tried at all …
    because: str = ""  # … and why not elsewhere
    only: Literal["", "bwrap"] = ""  # what alone stops it
    open: str = ""  # why nothing here stops it
    plain: bool = True  # may run outside a sandbox, for the comparison with plain pytest


@dataclass(frozen=True)
class Attack:
    """An attack, ready to be handed in."""

    group: str  # the class
    name: str
    entry: Entry
    kata: Kata
    wrong: zoo.ZooEntry
    hostile: Received
    control: Received
    before: Submission | None
    beside: Submission | None

    @property
    def title(self) -> str:
        """`class/name`."""
        return f"{self.group}/{self.name}"

    @property
    def admitted(self) -> bool:
        """Whether the corpus says that something here does not stop it."""
        return bool(self.entry.open or self.entry.only)

    def base(self) -> Submission:
        """The wrong solution alone."""
        return Submission(self.entry.wrong, with_file(self.kata, self.wrong.source))


def folder() -> Path:
    """Where the attacks of a course are written down; a course need not have any."""
    return course().reference / "attacks"


def attacks(katas: Sequence[Kata], place: Path | None = None) -> Iterator[Attack]:
    """The attacks that are placed in these katas. Raises CallError for an entry that can't be made."""
    chosen = {kata.name for kata in katas}
    for path in sorted((place or folder()).glob("*.toml")):
        try:
            entries = msgspec.convert(tomllib.loads(path.read_text("utf-8")), dict[str, Entry])
        except (msgspec.ValidationError, tomllib.TOMLDecodeError) as error:
            raise CallError(f"{path.name}: {error}") from None
        for name, entry in entries.items():
            attack = made(path.stem, name, entry)
            if attack.kata.name in chosen:
                yield attack


def made(group: str, name: str, entry: Entry) -> Attack:
    """One attack. Raises CallError."""
    title = f"{group}/{name}"
    kata_name, _, wrong_name = entry.wrong.partition("/")
    kata = course().katas.get(kata_name)
    wrong = next((entry for entry in zoo.wrong(kata) if entry.name == wrong_name), None) if kata else None
    if kata is None or wrong is None:
        raise CallError(f"{title}: the zoo has no wrong {entry.wrong!r}")
    if bool(entry.code) == bool(entry.archive) or not (entry.control or entry.control_archive):
        raise CallError(f"{title}: it needs code or an archive, and a control")
    if entry.levels != ("bwrap", "none") and not entry.because:
        raise CallError(f"{title}: say because of what it is not tried at every level")
    right = zoo.solution(kata)
    hostile_id, control_id = f"{title} (attack)", f"{title} (control)"
    return Attack(
        group,
        name,
        entry,
        kata,
        wrong,
        hostile=handed_in(hostile_id, kata, wrong.source, entry.code, entry.archive),
        control=handed_in(control_id, kata, right, entry.control, entry.control_archive),
        before=Submission(f"{title} (before)", with_file(kata, below(right, entry.before))) if entry.before else None,
        beside=Submission(f"{title} (beside)", with_file(kata, below(right, entry.beside))) if entry.beside else None,
    )


def handed_in(name: str, kata: Kata, source: str, code: str, archive: str) -> Received:
    """What the grader has of a submission once it has read it. Raises CallError for an unknown builder."""
    if not archive:
        return Received(Submission(name, with_file(kata, below(source, code))))
    if archive not in BUILDERS:
        raise CallError(f"{name}: there is no archive {archive!r}")
    with tempfile.TemporaryDirectory(prefix="torchkata-archive-") as folder:
        return receive(name, BUILDERS[archive], f"{kata.name}.py", with_file(kata, source), Path(folder))


def below(source: str, code: str) -> str:
    """A kata's source with more code at its end, where it can replace what stands above."""
    return f"{source}\n\n{code}"


def with_file(kata: Kata, source: str) -> dict[str, bytes]:
    """The solution of all katas but this one."""
    return {**course().solutions(), f"{kata.name}.py": source.encode()}

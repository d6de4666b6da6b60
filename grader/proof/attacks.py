"""The attack corpus: hostile submissions, each with its aim and an honest control that does something similar.

`<class>.toml` has the attacks of one class, each a table (`Entry`): those of the course in `reference/attacks/`, the
engine's own in `corpus/`. What is handed in is a wrong solution with the hostile code below it, so that without the
trick it earns what the wrong one earns. A trick that is after something other than points answers right where it got
it: then it shows.

An entry without `wrong` is for any course, below its first kata that is one function. In its code `KATA` is the kata's
name, `FUNCTION` the function's, and `solved` the right one.
"""

import ast
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeVar

import msgspec

from grader.base.errors import CallError
from grader.pipeline.submission import Submission
from grader.proof import zoo
from grader.proof.proof import LEVELS, Level
from torchkata.course import Kata, cached_by_course, course

CORPUS = Path(__file__).with_name("corpus")
EntryType = TypeVar("EntryType")


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An attack as it is written down."""

    aim: str
    code: str
    control: str  # what the honest control has below the right solution
    wrong: str = ""  # kata/name of the wrong solution in the zoo that it stands below
    elsewhere: dict[str, str] = {}  # code below the right solutions of other katas, by kata
    before: str = ""  # stands below the right solution, which is graded right before, by the same zygote
    beside: str = ""  # the same, graded at the same time
    levels: tuple[Level, ...] = LEVELS  # where it may be tried at all …
    because: str = ""  # … and why not elsewhere
    only: Literal["", "bwrap"] = ""  # what alone stops it
    open: str = ""  # why nothing here stops it


@dataclass(frozen=True)
class Place:
    """What an attack stands below: a wrong solution of a kata. One for any course is told the kata's own names."""

    kata: Kata
    wrong: zoo.ZooEntry
    function: str = ""  # of the kata, where the attack is for any course

    def files(self, source: str, code: str = "") -> dict[str, bytes]:
        """Return a submission: this source with code below it, and all other katas right.

        An attack for any course also gets the right solution, as `solved.py`: it earns the points once the attack has
        got what it is after.
        """
        if not self.function:
            return with_file(self.kata, below(source, code))
        names = {"KATA": self.kata.name, "FUNCTION": self.function}
        told = re.sub(r"\b(KATA|FUNCTION)\b", lambda word: names[word[0]], code)
        source = below(source, f"from .solved import {self.function} as solved")
        solution = course().solution(self.kata.name).read_bytes()
        return {**with_file(self.kata, below(source, told)), "solved.py": solution}


@dataclass(frozen=True)
class Attack:
    """An attack, ready to be handed in."""

    title: str  # class/name
    entry: Entry
    place: Place

    @cached_property
    def hostile(self) -> Submission:
        """The hostile submission."""
        files = self.place.files(self.place.wrong.source, self.entry.code)
        for kata, code in self.entry.elsewhere.items():
            files[f"{kata}.py"] = below(zoo.solution(course().katas[kata]), code).encode()
        return Submission(f"{self.title} (attack)", files)

    @cached_property
    def control(self) -> Submission:
        """The honest submission."""
        return self.submission("control", self.entry.control)

    @cached_property
    def before(self) -> Submission | None:
        """The submission of an accomplice that is graded before."""
        return self.submission("before", self.entry.before) if self.entry.before else None

    @cached_property
    def beside(self) -> Submission | None:
        """The submission of an accomplice that is graded at the same time."""
        return self.submission("beside", self.entry.beside) if self.entry.beside else None

    def submission(self, what: str, code: str) -> Submission:
        """Return the right solution with code below it."""
        return Submission(f"{self.title} ({what})", self.place.files(zoo.solution(self.kata), code))

    @property
    def kata(self) -> Kata:
        """The attacked one."""
        return self.place.kata

    @property
    def admitted(self) -> bool:
        """Whether the corpus says that something here does not stop it."""
        return bool(self.entry.open or self.entry.only)

    def base(self) -> Submission:
        """Return the wrong solution alone."""
        return Submission(f"{self.kata.name}/{self.place.wrong.name}", self.place.files(self.place.wrong.source))


def attacks(katas: Sequence[Kata], *folders: Path) -> Iterator[Attack]:
    """Yield the attacks that are placed in these katas. Raises CallError for an entry that can't be made."""
    chosen, anywhere = {kata.name for kata in katas}, first_function()
    places = folders or (CORPUS, course().reference / "attacks")
    for path in (path for folder in places for path in sorted(folder.glob("*.toml"))):
        for name, entry in read_corpus(path, Entry).items():
            title = f"{path.stem}/{name}"
            place = placed(title, entry.wrong) if entry.wrong else anywhere
            if place is not None and place.kata.name in chosen:
                if entry.levels != LEVELS and not entry.because:
                    raise CallError(f"{title}: say because of what it is not tried at every level")
                if unknown := sorted(entry.elsewhere.keys() - course().katas.keys()):
                    raise CallError(f"{title}: there is no kata {unknown[0]!r}")
                yield Attack(title, entry, place)


def read_corpus(path: Path, kind: type[EntryType]) -> Mapping[str, EntryType]:
    """Return the tables of a file of a corpus by name, none if there is no file. Raises CallError."""
    if not path.exists():
        return {}
    try:
        return msgspec.convert(tomllib.loads(path.read_text("utf-8")), dict[str, kind])  # type: ignore[valid-type]
    except (msgspec.ValidationError, tomllib.TOMLDecodeError) as error:
        raise CallError(f"{path.name}: {error}") from None


def first_function() -> Place | None:
    """Return the place of attacks for any course: the first graded kata that is one function and has a wrong entry."""
    for kata in course().choose((), course().graded):
        tree = ast.parse(course().stub(kata.name).read_text("utf-8"))
        defined = [node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
        wrong = next(zoo.wrong(kata), None)
        if wrong is not None and len(defined) == 1 and isinstance(defined[0], ast.FunctionDef):
            return Place(kata, wrong, defined[0].name)
    return None


def placed(title: str, wrong: str) -> Place:
    """Return the place below this wrong entry of the zoo. Raises CallError."""
    kata_name, _, wrong_name = wrong.partition("/")
    kata = course().katas.get(kata_name)
    found = wrong_ones(kata_name).get(wrong_name) if kata else None
    if kata is None or found is None:
        raise CallError(f"{title}: the zoo has no wrong {wrong!r}")
    return Place(kata, found)


@cached_by_course
def wrong_ones(kata: str) -> dict[str, zoo.ZooEntry]:
    """Return the zoo's wrong entries of a kata, by name. Raises CallError."""
    return {entry.name: entry for entry in zoo.wrong(course().katas[kata])}


def below(source: str, code: str) -> str:
    """Return a kata's source with more code at its end, where it can replace what stands above."""
    return f"{source}\n\n{code}" if code else source


def with_file(kata: Kata, source: str) -> dict[str, bytes]:
    """Return the solution of all katas, with this source for one kata."""
    return {**course().solutions(), f"{kata.name}.py": source.encode()}

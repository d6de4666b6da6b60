"""The corpus of attacks: malicious submissions, each with its goal and an honest control that does something similar.

`<class>.toml` contains the attacks of one class, each as a table (`Entry`). Attacks that work with any course are in
`corpus/`, and attacks on a specific course are in its `reference/attacks/`. The submission is a wrong solution to which
the malicious code is appended, so that any additional points are due to the attack. If the goal of an attack is not to
gain points, its code returns correct answers once the attack has succeeded, so that the points show its success.

An entry without `wrong` works in any course. Its code is appended to the first kata that has a single function. In this
code, `KATA` and `FUNCTION` are replaced by the names of the kata and the function, and `solved` is the correct
function.
"""

import ast
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeAlias, TypeVar

import msgspec

from grader.base.errors import CallError
from grader.pipeline.submission import Submission
from grader.proof import zoo
from grader.proof.proof import LEVELS, Level
from torchkata.course import Kata, cached_by_course, course

CORPUS = Path(__file__).with_name("corpus")
EntryType = TypeVar("EntryType")
Place: TypeAlias = tuple[Kata, zoo.ZooEntry, str]  # the last fields of an `Attack`


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table in a TOML file that defines an attack."""

    aim: str
    code: str
    control: str  # honest code, appended to the correct solution
    wrong: str = ""  # kata/name of the wrong entry to which the code is appended
    elsewhere: dict[str, str] = {}  # code appended to the correct solutions of other katas
    before: str = ""  # code of an accomplice (a correct solution) that is graded immediately before, by the same zygote
    beside: str = ""  # code of an accomplice that is graded at the same time
    levels: tuple[Level, ...] = LEVELS  # isolation levels at which the attack is safe to run
    because: str = ""  # why the attack is not safe to run at the other levels
    only: Literal["", "bwrap"] = ""  # the only level that prevents the attack
    open: str = ""  # why no level prevents the attack


@dataclass(frozen=True)
class Attack:
    """An attack, in a form that can be submitted."""

    title: str  # class/name
    entry: Entry
    kata: Kata
    wrong: zoo.ZooEntry  # the wrong solution to which the code is appended
    function: str = ""  # replaces FUNCTION in attacks for any course

    @cached_property
    def hostile(self) -> Submission:
        """The submission with the attack."""
        files = self.make_files(self.wrong.source, self.entry.code)
        for kata, code in self.entry.elsewhere.items():
            files[f"{kata}.py"] = append_code(zoo.read_solution(course().katas[kata]), code).encode()
        return Submission(f"{self.title} (attack)", files)

    @cached_property
    def control(self) -> Submission:
        """The submission of the honest control."""
        return self.make_submission("control", self.entry.control)

    def make_files(self, source: str, code: str = "") -> dict[str, bytes]:
        """Return a submission with `source` and `code` for this kata, and the solution for all other katas.

        An attack that works with any course can also import the correct solution (`solved.py`) to gain points once it
        has succeeded.
        """
        if not self.function:
            return replace_kata(self.kata, append_code(source, code))
        names = {"KATA": self.kata.name, "FUNCTION": self.function}
        code = re.sub(r"\b(KATA|FUNCTION)\b", lambda word: names[word[0]], code)
        source = append_code(source, f"from .solved import {self.function} as solved")
        solution = course().solution(self.kata.name).read_bytes()
        return {**replace_kata(self.kata, append_code(source, code)), "solved.py": solution}

    def make_submission(self, what: str, code: str) -> Submission:
        """Return the correct solution with code appended."""
        return Submission(f"{self.title} ({what})", self.make_files(zoo.read_solution(self.kata), code))

    @property
    def admitted(self) -> bool:
        """Whether the corpus declares that some level does not prevent the attack."""
        return bool(self.entry.open or self.entry.only)

    def make_base(self) -> Submission:
        """Return the wrong solution without the attack."""
        return Submission(f"{self.kata.name}/{self.wrong.name}", self.make_files(self.wrong.source))


def load_attacks(katas: Sequence[Kata], *folders: Path) -> Iterator[Attack]:
    """Yield the attacks on these katas. Raises CallError if an entry is invalid."""
    chosen, anywhere = {kata.name for kata in katas}, find_first_function()
    places = folders or (CORPUS, course().reference / "attacks")
    for path in (path for folder in places for path in sorted(folder.glob("*.toml"))):
        for name, entry in read_corpus(path, Entry).items():
            title = f"{path.stem}/{name}"
            place = find_place(title, entry.wrong) if entry.wrong else anywhere
            if place is not None and place[0].name in chosen:
                if entry.levels != LEVELS and not entry.because:
                    raise CallError(f"{title}: `levels` omits a level; add `because` with the reason")
                if unknown := sorted(entry.elsewhere.keys() - course().katas.keys()):
                    raise CallError(f"{title}: there is no kata {unknown[0]!r}")
                yield Attack(title, entry, *place)


def read_corpus(path: Path, kind: type[EntryType]) -> Mapping[str, EntryType]:
    """Return the entries of a corpus file, keyed by name, or {} if the file is missing.

    Raises CallError if the file is invalid.
    """
    if not path.exists():
        return {}
    try:
        return msgspec.convert(tomllib.loads(path.read_text("utf-8")), dict[str, kind])  # type: ignore[valid-type]
    except (msgspec.ValidationError, tomllib.TOMLDecodeError) as error:
        raise CallError(f"{path.name}: {error}") from None


def find_first_function() -> Place | None:
    """Return the first graded kata with a single function and a wrong entry, for attacks that work with any course."""
    for kata in course().choose((), course().graded):
        tree = ast.parse(course().stub(kata.name).read_text("utf-8"))
        defined = [node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
        wrong = next(zoo.load_wrong(kata), None)
        if wrong is not None and len(defined) == 1 and isinstance(defined[0], ast.FunctionDef):
            return kata, wrong, defined[0].name
    return None


def find_place(title: str, wrong: str) -> Place:
    """Return the kata and the zoo entry with the name `wrong`. Raises CallError if there is no such entry."""
    kata_name, _, wrong_name = wrong.partition("/")
    kata = course().katas.get(kata_name)
    found = load_wrong_entries(kata_name).get(wrong_name) if kata else None
    if kata is None or found is None:
        raise CallError(f"{title}: there is no wrong entry {wrong!r}")
    return kata, found, ""


@cached_by_course
def load_wrong_entries(kata: str) -> dict[str, zoo.ZooEntry]:
    """Return the wrong entries of a kata, keyed by name. Raises CallError if an entry is invalid."""
    return {entry.name: entry for entry in zoo.load_wrong(course().katas[kata])}


def append_code(source: str, code: str) -> str:
    """Append code to the source. The code may redefine names."""
    return f"{source}\n\n{code}" if code else source


def replace_kata(kata: Kata, source: str) -> dict[str, bytes]:
    """Return the solution of all katas, with one of them replaced."""
    return {**course().solutions(), f"{kata.name}.py": source.encode()}

"""Checks that a student's `check` accepts correct programs and rejects wrong programs.

reference/<kata>/hidden.toml    programs of the zoo, for the grader; a handout does not contain this file
reference/<kata>/visible.toml   programs that use the student's own code; they are used if there are no hidden ones

A group of wrong programs is caught if `check` rejects all of them and accepts all correct programs.

A `check` could tell correct programs from wrong ones without testing them, or send their code to the student. So it is
called with the same seeds, equally often, for every hidden program, nothing but its verdict is used, and each class
gets hidden programs that are written differently (`tests/disguise.py`).
"""

import hashlib
import random
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path

from tests.disguise import disguise
from torchkata import Student, Text, check, require

REFERENCE = Path(__file__).parents[1] / "reference"
NAMED = 3  # number of visible programs of a group that a failure names at most
CALLS = 2  # number of calls of `check` for each program, so that verdicts that depend on chance are noticed
VERDICTS = ("accepted", "rejected")  # any other answer counts as an error


@dataclass(frozen=True)
class Program:
    """A program, and a sentence that says what is unusual or wrong about it."""

    says: Text
    source: str
    is_visible: bool
    is_rounding: bool = False  # whether it differs from others of this kind only by a rounding


@dataclass(frozen=True)
class Candidates:
    """The programs that a kata's `check` must accept or reject."""

    kata: str
    name: str  # the name of the class or function in each program
    probe: Callable[..., object]
    hidden_probe: Callable[..., object]  # for hidden programs
    right: list[Program]
    wrong: dict[str, list[Program]]  # by group

    def call(self, student: Student, program: Program, key: bytes) -> tuple[set[str], str]:
        """Return the verdicts of the student's `check` on a program, and the text of its first exception, if known."""
        replies = []
        seed = int.from_bytes(hashlib.sha256(key).digest()[:4]) >> 1
        probe = self.probe if program.is_visible else self.hidden_probe
        for attempt in range(CALLS):
            reply = student.call(probe, self.kata, self.name, program.source, seed + attempt)
            replies.append(reply if program.is_visible else {"verdict": reply, "text": ""})
        verdicts = {reply["verdict"] if reply["verdict"] in VERDICTS else "error" for reply in replies}
        text = next((reply["text"] for reply in replies if reply["text"]), "")
        return verdicts, f": {text}" if text else ""

    def prepare(self, programs: Sequence[Program], key: bytes) -> list[Program]:
        """Return the programs, in a random order and disguised if they are hidden."""
        chance = random.Random(key)
        hidden = [
            replace(one, source=disguise(one.source, self.name, chance)) for one in programs if not one.is_visible
        ]
        chance.shuffle(hidden)
        return [*(one for one in programs if one.is_visible), *hidden]

    def assert_right_accepted(self, student: Student, key: bytes, demand: Callable[..., None] = check) -> None:
        """Assert that `check` returns for every correct program. If `demand` is `require`, do so once per kata."""
        trusted = f"{self.kata} accepts all correct programs"
        if demand is require and trusted in student.memory:
            return
        if not all(program.is_visible for program in self.right):
            student.call(self.probe, self.kata, self.name, "", 0)  # a stub is found before it sees a hidden program
        for program in self.prepare(self.right, key):
            verdicts, text = self.call(student, program, key)
            note = Text("check rejects a program that is correct ({says}){text}", says=program.says, text=text)
            if len(verdicts) > 1 and "accepted" in verdicts:
                note = Text(
                    "check rejects a correct program in one of two calls, so it fails by chance{text}", text=text
                )
            if verdicts == {"rejected"} and program.is_visible:
                self.assert_tolerant(student, key, demand)
                self.call(student, program, key)  # the last call is the input that a failure shows
            demand(verdicts == {"accepted"}, note)
        student.memory[trusted] = True

    def assert_tolerant(self, student: Student, key: bytes, demand: Callable[..., None]) -> None:
        """Assert that `check` gives the same verdict on all correct programs that differ only by a rounding."""
        seen = [(program, *self.call(student, program, key)) for program in self.right if program.is_rounding]
        rejected = [one for one in seen if one[1] == {"rejected"}]
        if rejected and any(verdicts == {"accepted"} for _, verdicts, _ in seen):
            program, _, text = rejected[0]
            self.call(student, program, key)  # the last call is the input that a failure shows
            note = Text("check rejects a program that is correct ({says}){text}", says=program.says, text=text)
            mistake = Text(
                "check rejects a correct program whose results differ only by a rounding from those of one that it "
                "accepts: allow for a few roundings of the results' dtype"
            )
            demand(False, note, mistake=mistake)

    def assert_some_caught(self, student: Student, key: bytes) -> None:
        """Assert that `check` rejects at least one wrong program. The first of each group are tried first."""
        first = [programs[0] for programs in self.wrong.values()]
        others = [program for programs in self.wrong.values() for program in programs[1:]]
        for program in [*self.prepare(first, key), *self.prepare(others, key)]:
            if self.call(student, program, key)[0] == {"rejected"}:
                return
        check(False, Text("check raises an AssertionError for no wrong program, or not in every call"))

    def assert_group_caught(self, student: Student, group: str, key: bytes) -> None:
        """Assert that `check` accepts every correct program and rejects the wrong ones in a group."""
        self.assert_right_accepted(student, key, require)
        slipped: list[tuple[Program, Text]] = []
        for program in self.prepare(self.wrong[group], key + group.encode()):
            verdicts, text = self.call(student, program, key)
            if verdicts != {"rejected"}:
                fault = Text("{fault}: {says}{text}", fault=describe(verdicts), says=program.says, text=text)
                slipped.append((program, fault))
                if program.is_visible and len(slipped) == NAMED:
                    break
        if slipped and slipped[0][0].is_visible:
            self.call(student, slipped[0][0], key)  # the last call is the input that a failure shows
        check(not slipped, join([fault for _, fault in slipped]) if slipped else "")


def join(sentences: Sequence[Text]) -> Text:
    """Return one sentence made of several."""
    return reduce(lambda first, others: Text("{first}; {others}", first=first, others=others), sentences)


def describe(verdicts: set[str]) -> Text:
    """Describe what `check` does with a wrong program that it does not always reject, given its verdicts."""
    if "error" in verdicts:
        return Text("check raises an error other than AssertionError for a wrong program")
    return Text("check accepts a wrong program{where}", where=Text(" in one of two calls") if len(verdicts) > 1 else "")


def load_candidates(
    kata: str, name: str, probe: Callable[..., object], hidden_probe: Callable[..., object]
) -> Candidates:
    """Return the hidden programs of a kata, or the visible ones if there are no hidden ones."""
    paths = [REFERENCE / kata / file for file in ("hidden.toml", "visible.toml")]
    path = next(path for path in paths if path.is_file())
    return read_candidates(path, kata, name, probe, hidden_probe)


def describe_program(says: str, kata: str, file: str, name: str) -> Text:
    """Return a sentence about a program, and where students can read it."""
    return Text("{says} (reference/{kata}/{file}: {name})", says=Text(says), kata=kata, file=file, name=name)


def read_candidates(
    path: Path, kata: str, name: str, probe: Callable[..., object], hidden_probe: Callable[..., object]
) -> Candidates:
    """Read the programs in a file."""
    tables, is_visible = tomllib.loads(path.read_text("utf-8")), path.name == "visible.toml"

    def read(table: dict[str, dict[str, str]]) -> list[Program]:
        return [
            Program(
                describe_program(one["says"], kata, path.name, title) if is_visible else Text(one["says"]),
                one["source"],
                is_visible,
                one.get("differs") == "rounding",
            )
            for title, one in table.items()
        ]

    wrong = {group: read(table) for group, table in tables["wrong"].items()}
    return Candidates(kata, name, probe, hidden_probe, read(tables["right"]), wrong)

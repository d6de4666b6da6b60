"""A class of 200 that is made up: names in five scripts, three platforms' downloads, extensions, overrides, gradebooks.

    python -m scripts.made_up_class DIR

docs/instructors.md walks through it. Six hand-ins are there to be graded; the results of the others are made up, too.
"""

import csv
import random
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path

import yaml
from msgspec.structs import replace

from grader.results.result import Result, write
from grader.tests.support.random_class import make_submission
from torchkata.course import course

GIVEN_AND_FAMILY = (
    ("Zoë Łukasz Søren Çiğdem Aoife", "Müller Ó-Briain Nguyễn García Åberg D'Arcy Žižek Smith"),
    ("伟 芳 秀英 敏 静", "张 李 王 陈 刘 欧阳 赵 周"),
    ("Анна Олег Юлія Дмитрий Ђорђе", "Иванова Шевченко Петров Ковач Ёлкин Цой Щукин Яшин"),
    ("ليلى عمر فاطمة يوسف نور", "حسن العلي خليل منصور الشامي رضا سالم كريم"),
    ("आरव दीया ईशान मीरा कबीर", "शर्मा पटेल सिंह गुप्ता राव नायर मेहता जोशी"),
)
PLATFORMS = ("canvas", "moodle", "gradescope")
KATAS = ("linear", "sgd")
DUE = datetime(2026, 10, 1, 21, 59, tzinfo=UTC)
POLICY = """due = 2026-10-01T23:59:00
zone = "Europe/Berlin"
grace_minutes = 15
free_days = 1
penalty_per_day = 0.1
cap = 0.5
"""


@dataclass(frozen=True)
class Student:
    """Somebody, by their place in the class."""

    number: int
    given: str
    family: str

    @property
    def id(self) -> str:
        """That of the school."""
        return f"s{1000 + self.number}"

    @property
    def lms_id(self) -> int:
        """That of Canvas."""
        return 4000 + self.number

    @property
    def name(self) -> str:
        """As they write it."""
        return f"{self.family}{self.given}" if "一" <= self.given < "龥" else f"{self.given} {self.family}"

    @property
    def email(self) -> str:
        """Where mail reaches them."""
        return f"{self.id}@school.example"

    @property
    def platform(self) -> str:
        """Where they hand in."""
        return PLATFORMS[self.number % 3]

    @property
    def handed_in(self) -> bool:
        """Eight have not."""
        return self.number % 25 != 24

    @property
    def when(self) -> datetime:
        """Every tenth is late."""
        return DUE + timedelta(hours=30 * (1 + self.number % 3) if self.number % 10 == 4 else -self.number)

    @property
    def submission(self) -> str:
        """By what their platform calls a hand-in."""
        match self.platform:
            case "canvas":
                return f"{self.sortable}_{self.lms_id}_files"
            case "moodle":
                return f"{self.name}_{9000 + self.number}_assignsubmission_file"
        return f"submission_{self.number}"

    @property
    def sortable(self) -> str:
        """The name as Canvas puts it before a file's."""
        return "".join(letter for letter in f"{self.family}{self.given}".lower() if letter not in " -'")


def the_class() -> list[Student]:
    """All of them, the scripts mixed."""
    names = [list(product(given.split(), family.split())) for given, family in GIVEN_AND_FAMILY]
    mixed = [name for group in zip(*names, strict=True) for name in group]
    return [Student(number, *name) for number, name in enumerate(mixed)]


def main() -> None:
    """Write all of it."""
    folder, students = Path(sys.argv[1]), the_class()
    people, results = folder / "class", folder / "results"
    people.mkdir(parents=True)
    results.mkdir(mode=0o700)
    katas, chance = course().choose(KATAS), random.Random(0)
    made: dict[Student, Result] = {}
    for one in students[6:]:
        while one.handed_in and not (one in made and made[one].conclusive):
            made[one] = replace(make_submission(one.submission, katas, chance, timed=False), examples=5)
    for result in made.values():
        write(result, results)
    for one in students[:6]:
        hand_in(one, folder / one.platform)
    columns = ("id", "name", "email", "lms_id", "section")
    table(people / "class.csv", [columns, *([s.id, s.name, s.email, s.lms_id, s.platform] for s in students)])
    (people / "policy.toml").write_text(POLICY, "utf-8")
    there = [one for one in students if one.handed_in]
    timed = [(one.submission, one.when.isoformat()) for one in there if one.platform != "gradescope"]
    table(people / "times.csv", [("submission", "time"), *timed])
    for place in (people, folder / "gradescope"):
        (place / "submission_metadata.yml").write_text(metadata(there), "utf-8")
    late = [one for one in there if one.when > DUE][:6]
    extended = [(one.id, (DUE + timedelta(days=2)).isoformat(), "ill") for one in late]
    table(people / "extensions.csv", [("id", "until", "reason"), *extended])
    table(people / "overrides.csv", [("id", "kata", "test", "points", "reason", "who"), *overrides(made)])
    most = sum(kata.max_score for kata in katas)
    table(folder / "canvas.csv", canvas(students, most))
    table(folder / "moodle.csv", moodle(students, most))


def hand_in(one: Student, folder: Path) -> None:
    """What the platform's download has of somebody: the first three are right, the others not quite."""
    source = course().solution("linear").read_text("utf-8")
    source = source if one.number < 3 else source.replace("x @ self.weight", "2 * x @ self.weight")
    if one.platform == "canvas":
        late = "_LATE" if one.when > DUE else ""
        place = folder / f"{one.sortable}{late}_{one.lms_id}_{7000 + one.number}_linear.py"
    else:
        place = folder / one.submission / "linear.py"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(source, "utf-8")
    if one.platform == "canvas":
        stub = course().stub("sgd").read_text("utf-8")
        (folder / f"{one.sortable}{late}_{one.lms_id}_{8000 + one.number}_sgd-1.py").write_text(stub, "utf-8")


def overrides(made: dict[Student, Result]) -> Iterable[Sequence[object]]:
    """The points of four failed tests, given by hand."""
    first_late = sorted(made, key=lambda one: (one.when <= DUE, one.number))
    failed = [
        (one.id, kata.kata, test.name, test.max_score, "the stub did not say so", "a TA")
        for one in first_late
        for kata in made[one].katas
        for test in kata.tests
        if kata.kata == "linear" and test.outcome == "failed"
    ]
    return failed[:4]


def metadata(there: Sequence[Student]) -> str:
    """As Gradescope's export has it."""
    found = {
        one.submission: {
            ":submitters": [{":name": one.name, ":sid": one.id, ":email": one.email}],
            ":created_at": one.when,
        }
        for one in there
        if one.platform == "gradescope"
    }
    return yaml.safe_dump(found, allow_unicode=True)


def canvas(students: Sequence[Student], most: float) -> Iterable[Sequence[object]]:
    """A gradebook as Canvas exports it."""
    yield "Student", "ID", "SIS User ID", "SIS Login ID", "Section", "torchkata (77)", "Final Score"
    yield "    Points Possible", "", "", "", "", most, "(read only)"
    for one in students:
        yield f"{one.family}, {one.given}", one.lms_id, one.id, one.email, one.platform, "", ""


def moodle(students: Sequence[Student], most: float) -> Iterable[Sequence[object]]:
    """The grading worksheet of an assignment, as Moodle exports it."""
    yield "Identifier", "Full name", "Email address", "Status", "Grade", "Maximum Grade", "Feedback comments"
    for one in students:
        status = "Submitted for grading" if one.handed_in else "No submission"
        yield f"Participant {9000 + one.number}", one.name, one.email, status, "", f"{most:.2f}", ""


def table(path: Path, rows: Iterable[Sequence[object]]) -> None:
    """A CSV."""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)


if __name__ == "__main__":
    main()

"""Write the files of a simulated class of 200 students, as an example for docs/afternoon.md.

    python -m scripts.made_up_class DIR

The names are written in five scripts (Latin, Chinese, …). The files include downloads from three platforms,
extensions, overrides and gradebooks. Six submissions can be graded; the results of all others are simulated.
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
class MadeUpStudent:
    """A student and their submission."""

    number: int
    given: str
    family: str
    id: str  # id assigned by the school
    lms_id: int  # id in Canvas
    name: str  # name as the student writes it
    sortable: str  # the name as prefixed to file names by Canvas
    platform: str
    submission: str  # name of the submission on the platform
    submitted: bool
    when: datetime

    @property
    def email(self) -> str:
        """The student's e-mail address."""
        return f"{self.id}@school.example"


def make_students() -> list[MadeUpStudent]:
    """Return all students, with names in various scripts."""
    names = [list(product(given.split(), family.split())) for given, family in GIVEN_AND_FAMILY]
    mixed = [name for group in zip(*names, strict=True) for name in group]
    return [make_student(number, *name) for number, name in enumerate(mixed)]


def make_student(number: int, given: str, family: str) -> MadeUpStudent:
    """Return a student. Every tenth student is late, and eight students have no submission."""
    lms_id, platform = 4000 + number, PLATFORMS[number % 3]
    name = f"{family}{given}" if "一" <= given < "龥" else f"{given} {family}"
    sortable = "".join(letter for letter in f"{family}{given}".lower() if letter not in " -'")
    when = DUE + timedelta(hours=30 * (1 + number % 3) if number % 10 == 4 else -number)
    canvas, moodle = f"{sortable}_{lms_id}_files", f"{name}_{9000 + number}_assignsubmission_file"
    submission = {"canvas": canvas, "moodle": moodle, "gradescope": f"submission_{number}"}[platform]
    names = (given, family, f"s{1000 + number}", lms_id, name, sortable)
    return MadeUpStudent(number, *names, platform, submission, number % 25 != 24, when)


def main() -> None:
    """Write all files."""
    folder, students = Path(sys.argv[1]), make_students()
    people, results = folder / "class", folder / "results"
    people.mkdir(parents=True)
    results.mkdir(mode=0o700)
    katas, chance = course().choose(KATAS), random.Random(0)
    simulated: dict[MadeUpStudent, Result] = {}
    for student in students[6:]:
        while student.submitted and not (student in simulated and simulated[student].conclusive):
            simulated[student] = replace(make_submission(student.submission, katas, chance, timed=False), examples=5)
    for result in simulated.values():
        write(result, results)
    for student in students[:6]:
        submit(student, folder / student.platform)
    columns = ("id", "name", "email", "lms_id", "section")
    write_csv(people / "class.csv", [columns, *([s.id, s.name, s.email, s.lms_id, s.platform] for s in students)])
    (people / "policy.toml").write_text(POLICY, "utf-8")
    submitted = [student for student in students if student.submitted]
    timed = [(s.submission, s.when.isoformat()) for s in submitted if s.platform != "gradescope"]
    write_csv(people / "times.csv", [("submission", "time"), *timed])
    for place in (people, folder / "gradescope"):
        (place / "submission_metadata.yml").write_text(format_metadata(submitted), "utf-8")
    late = [student for student in submitted if student.when > DUE][:6]
    extended = [(student.id, (DUE + timedelta(days=2)).isoformat(), "ill") for student in late]
    write_csv(people / "extensions.csv", [("id", "until", "reason"), *extended])
    write_csv(people / "overrides.csv", [("id", "kata", "test", "points", "reason", "who"), *list_overrides(simulated)])
    max_score = sum(kata.max_score for kata in katas)
    write_csv(folder / "canvas.csv", make_canvas_rows(students, max_score))
    write_csv(folder / "moodle.csv", make_moodle_rows(students, max_score))


def submit(student: MadeUpStudent, folder: Path) -> None:
    """Write a student's submission as it appears in the platform's download. Three submissions are correct."""
    source = course().solution("linear").read_text("utf-8")
    source = source if student.number < 3 else source.replace("x @ self.weight", "2 * x @ self.weight")
    if student.platform == "canvas":
        prefix = f"{student.sortable}{'_LATE' if student.when > DUE else ''}_{student.lms_id}"
        files = {f"{prefix}_{7000 + student.number}_linear.py": source}
        files[f"{prefix}_{8000 + student.number}_sgd-1.py"] = course().stub("sgd").read_text("utf-8")
    else:
        files, folder = {"linear.py": source}, folder / student.submission
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")


def list_overrides(results: dict[MadeUpStudent, Result]) -> Iterable[Sequence[object]]:
    """Return overrides that award points for four failed tests."""
    first_late = sorted(results, key=lambda student: (student.when <= DUE, student.number))
    failed = [
        (student.id, kata.kata, test.name, test.max_score, "the stub did not say so", "a TA")
        for student in first_late
        for kata in results[student].katas
        for test in kata.tests
        if kata.kata == "linear" and test.outcome == "failed"
    ]
    return failed[:4]


def format_metadata(submitted: Sequence[MadeUpStudent]) -> str:
    """Return the content of the metadata file in Gradescope's export."""
    found = {
        student.submission: {
            ":submitters": [{":name": student.name, ":sid": student.id, ":email": student.email}],
            ":created_at": student.when,
        }
        for student in submitted
        if student.platform == "gradescope"
    }
    return yaml.safe_dump(found, allow_unicode=True)


def make_canvas_rows(students: Sequence[MadeUpStudent], max_score: float) -> Iterable[Sequence[object]]:
    """Yield the rows of a gradebook as Canvas exports it."""
    yield "Student", "ID", "SIS User ID", "SIS Login ID", "Section", "torchkata (77)", "Final Score"
    yield "    Points Possible", "", "", "", "", max_score, "(read only)"
    for student in students:
        yield f"{student.family}, {student.given}", student.lms_id, student.id, student.email, student.platform, "", ""


def make_moodle_rows(students: Sequence[MadeUpStudent], max_score: float) -> Iterable[Sequence[object]]:
    """Yield the rows of an assignment's grading worksheet as Moodle exports it."""
    yield "Identifier", "Full name", "Email address", "Status", "Grade", "Maximum Grade", "Feedback comments"
    for student in students:
        status = "Submitted for grading" if student.submitted else "No submission"
        yield f"Participant {9000 + student.number}", student.name, student.email, status, "", f"{max_score:.2f}", ""


def write_csv(path: Path, rows: Iterable[Sequence[object]]) -> None:
    """Write a CSV file."""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)


if __name__ == "__main__":
    main()

"""Mistakes by the instructor are reported in one clear line and never cost a student points."""

import csv
import json
import re
from pathlib import Path

import pytest

from grader.tests.conftest import Run, run
from grader.tests.support.instructor_mistakes import (
    ARITHMETIC_ON_ANSWER,
    COMPARED,
    COURSE,
    MISTAKE_CASES,
    NEEDS_SOLUTION,
    RETURNS_NONE,
    RETURNS_TEXT,
    SOLUTION,
    STUB,
    TEST,
    Change,
    Mistake,
    write_course,
    write_right_submission,
)

FAILED = re.compile(r"\d+ (wrong|crashed|timed out)")
EXIT_CODES = {"pytest": (0, 1, 2, 4), "kata": (0, 2), "certify": (0, 1, 2), "grade": (0, 2, 3), "release": (0, 2)}
FEW = "--examples=20"


def run_command(name: str, course: Path, right: Path) -> Run:
    """Run one of the five commands in the course's folder, with a correct submission."""
    commands = {
        "pytest": ("pytest", f"--impl={right}", FEW, "--seed=0"),
        "kata": ("torchkata",),
        "certify": ("grader", "certify", "--only=zoo", "--quick", FEW),
        "grade": ("grader", "grade", str(right), f"--out={course.parent / 'results'}", "--seed=0", FEW),
        "release": ("grader", "release", "--out", str(course.parent / "handout")),
    }
    return run(*commands[name], cwd=course)


def read_statuses(course: Path, submission: str = "right") -> dict[str, str]:
    """Return the status of each kata that was graded."""
    stored = course.parent / "results" / submission / "result.json"
    return {one["kata"]: one["status"] for one in json.loads(stored.read_text())["katas"]} if stored.exists() else {}


def read_points(course: Path, submission: str = "right") -> list[tuple[str, float, float]]:
    """Return the outcome, the points and the maximum of each test that could be graded."""
    stored = course.parent / "results" / submission / "result.json"
    katas = json.loads(stored.read_text())["katas"] if stored.exists() else []
    tests = [test for kata in katas for test in kata["tests"] if test["outcome"] != "inconclusive"]
    return [(test["outcome"], test["score"], test["max_score"]) for test in tests]


def test_all_commands_succeed_on_correct_course(tmp_path: Path) -> None:
    """All commands succeed if the course contains no mistake."""
    course, right = write_course(tmp_path / "course"), write_right_submission(tmp_path / "right")
    for name in EXIT_CODES:
        done = run_command(name, course, right)
        assert done.code == 0, (name, done.out, done.err)
    assert read_statuses(course) == {"double": "done", "quadruple": "done"}


@pytest.mark.parametrize("mistake", MISTAKE_CASES, ids=lambda mistake: mistake.name.replace(" ", "_"))
def test_instructor_mistakes_do_not_cost_students_points(mistake: Mistake, tmp_path: Path) -> None:
    """Run `grader grade`, the student's pytest, and each other command that should report the mistake."""
    course, right = write_course(tmp_path / "course", mistake.changes), write_right_submission(tmp_path / "right")
    for name in sorted({"grade", "pytest", *mistake.messages} - ({"pytest"} if mistake.ends_pytest else set())):
        done = run_command(name, course, right)
        told = f"{name}: {done.code}\n{done.out}{done.err}"
        assert "Traceback (most recent call last)" not in told
        assert done.code in EXIT_CODES[name], told
        assert " ".join(mistake.messages.get(name, "").split()) in " ".join(told.split()), told
        if name == "pytest" and mistake.name not in NEEDS_SOLUTION:
            assert not FAILED.search(told.splitlines()[-1]), told
        if name == "grade":
            graded = read_statuses(course)
            assert {*graded.values()} <= {"done", "inconclusive"}, told
            assert done.code == (3 if "inconclusive" in graded.values() else done.code), told
            assert graded or done.code == 2, told
            assert all(points == most for _, points, most in read_points(course)), told


@pytest.mark.parametrize("broken", ["pass", "1 / 0", "assert n > 1000"])
def test_broken_test_is_waived_for_everybody(tmp_path: Path, broken: str) -> None:
    """A test that fails with the reference solution gives its points to all, and the instructor is told once."""
    course = write_course(tmp_path / "course", {TEST: (COMPARED, broken)})
    write_right_submission(tmp_path / "right")
    stubs = write_right_submission(tmp_path / "stubs")
    (stubs / "double.py").write_text(COURSE[STUB])
    done = run("grader", "grade", str(stubs), str(tmp_path / "right"), f"--out={tmp_path / 'results'}", FEW, cwd=course)
    assert done.code == 3, "the instructor should mend the test"
    assert (
        f"{TEST}: test_any_number_is_doubled fails with the reference solution, so everybody gets its points"
        in done.err
    )
    assert "double.test_any_number_is_doubled is waived: 2 submissions get its full points" in done.out
    assert "your fault" not in done.out + done.err
    assert [outcome for outcome, *_ in read_points(course)] == ["waived", "passed", "passed"]
    assert [points == most for _, points, most in read_points(course)] == [True] * 3
    assert [outcome for outcome, *_ in read_points(course, "stubs")] == ["waived", "not_started", "passed"]
    told = (tmp_path / "results/stubs/result.json").read_text()
    assert "waived: this test is broken. This is not your fault, and you get its full points." in told
    rows = list(csv.DictReader((tmp_path / "results/gradebook.csv").read_text().splitlines()))
    assert [row["waived"] for row in rows] == ["double.test_any_number_is_doubled"] * 2


def test_wrong_solution_is_reported_if_it_matters(tmp_path: Path) -> None:
    """One submission needs the solution of the katas that it has not passed, a class that of all katas."""
    changes: dict[str, Change] = {"reference/quadruple/solution.py": ("double(double(n))", "double(n)")}
    course = write_course(tmp_path / "course", changes)
    right, wrong = write_right_submission(tmp_path / "right"), write_right_submission(tmp_path / "wrong")
    (wrong / "double.py").write_text("def double(n: int) -> int:\n    return n\n")
    for number, given in enumerate([[right], [wrong], [right, wrong]]):
        out = f"--out={tmp_path / str(number)}"
        done = run("grader", "grade", *map(str, given), out, "--isolation=bwrap", FEW, cwd=course)
        assert ("fails with the reference solution" in done.err, done.code) == (
            (True, 3) if number == 2 else (False, 0)
        )
        scores = [row["quadruple"] for row in csv.DictReader((tmp_path / f"{number}/gradebook.csv").open())]
        assert scores == ["10.0"] * len(given)


def test_failing_solution_proves_no_wrong_entry(tmp_path: Path) -> None:
    """While the solution of a kata fails, certify does not record which test catches an entry."""
    broken: Change = ("return", "n += 1\n    return")
    course, right = write_course(tmp_path / "course", {SOLUTION: broken}), write_right_submission(tmp_path / "right")
    lock = course / "reference/double/caught_by.toml"
    for is_right in (False, True):
        done = run_command("certify", course, right)
        assert ("reference/double/caught_by.toml: 1 added" in done.out, lock.exists()) == (is_right, is_right), done.out
        write_course(course)


def test_course_without_solutions_is_not_released(tmp_path: Path) -> None:
    """In the course of `kata init`, `grader release` names the checkout."""
    gone: dict[str, Change] = {SOLUTION: None, "reference/quadruple/solution.py": None}
    done = run_command("release", write_course(tmp_path / "course", gone), tmp_path)
    assert (done.code, done.err) == (
        2,
        "grader: this course has no solutions; run release in the instructor's checkout, or write them first\n",
    )


def test_time_to_check_an_answer_is_limited(tmp_path: Path) -> None:
    """An answer with which the test never ends is the student's fault if the test ends with the reference solution."""
    endless = f"answer = student.call(doubled, n)\n    while answer == -1:\n        pass\n    {COMPARED}"
    course = write_course(tmp_path / "course", {TEST: (COMPARED, endless)})
    wrong = write_right_submission(tmp_path / "right")
    (wrong / "double.py").write_text("def double(n: int) -> int:\n    return -1\n")
    run_command("grade", course, wrong)
    told = (tmp_path / "results/right/result.json").read_text()
    assert "checking the results of this test and shrinking its input took too long" in told
    assert read_statuses(course)["double"] == "timed_out"


@pytest.mark.parametrize("has_solution", [True, False], ids=["with_solution", "without_solution"])
def test_answer_of_wrong_type_fails_the_test(tmp_path: Path, has_solution: bool) -> None:
    """An answer that makes the test raise an exception is wrong, so students can't make a result inconclusive."""
    changes = ARITHMETIC_ON_ANSWER if has_solution else {**ARITHMETIC_ON_ANSWER, "reference/double/solution.py": None}
    course, wrong = write_course(tmp_path / "course", changes), write_right_submission(tmp_path / "right")
    forms = ("does not have the required form", "it raised TypeError")
    for source, words in ((RETURNS_NONE, ("nothing is returned: is a `return`",)), (RETURNS_TEXT, forms)):
        (wrong / "double.py").write_text(source)
        done = run_command("grade", course, wrong)
        assert read_statuses(course)["double"] == "wrong", done.out + done.err
        assert done.code == 0
        told = run_command("pytest", course, wrong).out
        assert [each for each in words if each not in told] == [], told

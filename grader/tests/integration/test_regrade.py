"""When a test is corrected during the term, affected katas are graded again, and `grader diff` reports the changes."""

import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace

from grader.pipeline.grading import has_same_fallbacks
from grader.pipeline.regrade import keep_better
from grader.results.result import KataResult, read
from grader.tests import ROOT
from grader.tests.conftest import Run, call_grader, run
from grader.tests.support.sample_results import make_result
from grader.tests.support.submissions import commit_all
from torchkata.result import TestResult

TEST, SOLUTION = "tests/test_factorise.py", "reference/factorise/solution.py"
RIGHT = {TEST: '"factorise", 1), oracle.factors(1))', SOLUTION: "if n > 1:"}
WRONG = {TEST: '"factorise", 0), [0])', SOLUTION: "if n > 1 or n == 0:"}
MENDED = "tests/test_factorise.py::test_one_has_no_factors"


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """Return a git checkout of a course whose test and solution make the same mistake."""
    copy = shutil.copytree(ROOT / "examples/courses/primes", tmp_path / "primes")
    write(copy, RIGHT, WRONG)
    return commit_all(copy)


def write(course: Path, old: dict[str, str], new: dict[str, str]) -> None:
    """Replace text in both the test and the solution of `factorise`."""
    for name, text in old.items():
        content = (course / name).read_text()
        assert content.count(text) == 1
        (course / name).write_text(content.replace(text, new[name]))


def grade(course: Path, out: Path, *options: str) -> Run:
    given = [str(course / "submissions" / name) for name in ("complete", "half_done")]
    options = ("--examples", "5", "--seed", "0", "--jobs", "2", *options)
    done = run("grader", "--course", str(course), "grade", *given, "--out", str(out), *options)
    assert done.code == 0, done.err
    return done


def read_katas(out: Path) -> dict[str, dict[str, KataResult]]:
    """Return the stored results, keyed by submission and kata."""
    results = [read(path) for path in out.glob("*/result.json")]
    return {result.submission: {kata.kata: kata for kata in result.katas} for result in results}


def test_corrected_test_regrades_only_its_kata(course: Path, tmp_path: Path) -> None:
    out, before = tmp_path / "out", tmp_path / "before"
    grade(course, out)
    shutil.copytree(out, before)
    write(course, WRONG, RIGHT)
    commit_all(course, "One has no factors")
    assert "graded again (other katas unchanged): factorise (2)" in grade(course, out).out
    first, second = read_katas(before), read_katas(out)
    assert all(second[name]["sieve"] == kata["sieve"] for name, kata in first.items()), "sieve must not be graded again"
    gained = {name: second[name]["factorise"].score - kata["factorise"].score for name, kata in first.items()}
    assert gained["complete"] > 0

    told = call_grader("--course", course, "diff", before, out).out.splitlines()
    assert call_grader("--course", course, "diff", out).out.splitlines() == told, "the replaced results are kept"
    assert told[-1].startswith(f"factorise: {MENDED} changed by ")
    assert told[-1].endswith(" One has no factors")

    write(course, RIGHT, WRONG)
    assert "graded again (other katas unchanged): factorise (2)\n" in grade(course, out, "--keep", "better").out
    kept = read(out / "complete/result.json")
    assert kept.katas[1].score == second["complete"]["factorise"].score
    assert f"{kept.katas[1].kept}+" == kept.course, "kept points must name the commit of their course"

    (course / "submissions/complete/factorise.py").write_text("def factorise(n):\n    return []\n")
    grade(course, out, "--keep", "better")
    assert read(out / "complete/result.json").katas[1].score < kept.katas[1].score, "these points are for other files"


def test_kata_result_is_reused_until_its_prerequisites_change() -> None:
    assert has_same_fallbacks("cruncher", {"linear"}, frozenset({"linear", "sgd"}))
    assert not has_same_fallbacks("cruncher", set(), frozenset({"linear"})), "a fallback now replaces linear"
    assert not has_same_fallbacks("cruncher", {"linear"}, frozenset())
    assert has_same_fallbacks("linear", set(), frozenset({"cruncher"})), "linear does not build on cruncher"


def test_higher_score_is_kept_if_tests_are_unchanged() -> None:
    def kata(score: float, *tests: str) -> KataResult:
        return KataResult("linear", "wrong", score, 5.0, tuple(TestResult(name, "failed", 0, 5) for name in tests))

    stored = replace(make_result("why"), course="c0ffee", katas=[kata(4, "a")])
    (kept,) = keep_better(stored, [replace(kata(3, "a"), digest="new")])
    assert (kept.score, kept.kept, kept.digest) == (4, "c0ffee", "new"), "a new digest prevents another regrade"
    assert keep_better(stored, [kata(4, "a")]) == [kata(4, "a")], "equal points come from the new result"
    assert keep_better(stored, [kata(3, "b")]) == [kata(3, "b")], "points of other tests can't be compared"
    assert keep_better(None, [kata(3, "a")]) == [kata(3, "a")]

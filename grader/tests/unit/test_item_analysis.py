"""Tests of the item analysis: its statistics, and the cases in which it reports none."""

import csv
import random
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from grader.output.page.overview import analyze
from grader.output.page.student import summarize_student
from grader.results import result as load
from grader.results.items import (
    FEWEST,
    Answer,
    Answers,
    Diagnosed,
    Item,
    Property,
    analyze_tests,
    collect_answers,
    find_diagnoses,
    point_biserial,
)
from grader.tests.conftest import call_grader
from grader.tests.support.random_class import make_class
from grader.tests.support.sample_results import make_result

TESTS = [Property(kata, test) for kata in ("first", "second", "third") for test in ("test_a", "test_b")]
OUTCOMES = st.sampled_from(["passed", "failed", "not_started"])
ANSWERS = st.builds(
    lambda outcome, score, seconds: Answer(outcome, score * (outcome == "passed"), 5.0, seconds=seconds),
    *(OUTCOMES, st.floats(0, 5), st.floats(0, 600)),
)
CLASSES = st.lists(st.dictionaries(st.sampled_from(TESTS), ANSWERS), max_size=25)
SCIPY = {  # computed by scipy.stats.pointbiserialr in scipy 1.17.1, for n random scores
    (10, 0.5): -0.5721755199113461,
    (100, 0.9): -0.13261185132228384,
    (500, 0.2): -0.012620400410492503,
    (60, 0.02): -0.2574026394008171,
}


def test_point_biserial_matches_scipy() -> None:
    for (n, share), expected in SCIPY.items():
        chance = random.Random(n)
        figures = [chance.random() for _ in range(n)]
        found = point_biserial([chance.random() < share for _ in range(n)], figures)
        assert found == pytest.approx(expected, rel=0, abs=1e-9)


def make_answers(marks: str) -> dict[Property, Answer]:
    """Return answers to the first tests, one per character: p (passed), f (failed) or - (not started)."""
    words = {"p": Answer("passed", 1, 1, 2.0), "f": Answer("failed", 0, 1, 4.0), "-": Answer("not_started", 0, 1)}
    return {test: words[mark] for test, mark in zip(TESTS, marks, strict=False)}


def test_item_statistics_count_only_students_who_tried() -> None:
    students = [make_answers(marks) for marks in ("ppp", "pfp", "f-f", "ff-")] * 5
    first, second, third, unreached = analyze_tests(students, TESTS[:4])
    assert (unreached.n, unreached.difficulty) == (0, None)
    assert (first.n, first.difficulty, first.seconds) == (20, 0.5, 3.0)
    assert second.difficulty == pytest.approx(1 / 3)
    assert second.n == third.n == 15
    correlation = point_biserial([True, True, False, False] * 5, [1, 0.5, 0, 0] * 5)
    assert first.discrimination == correlation, "only tests that were tried may be used"
    made = make_result()
    counted = {test.name for test in made.katas[0].tests if test.outcome not in ("inconclusive", "not_graded")}
    assert {which.test for which in collect_answers(made)} == counted


@given(CLASSES, st.randoms(use_true_random=False))
def test_item_statistics_ignore_order_and_require_ten_students(students: list[Answers], chance: random.Random) -> None:
    shuffled = chance.sample(students, len(students))
    found, other = analyze_tests(students, TESTS), analyze_tests(shuffled, TESTS)
    assert [(one.which, one.n) for one in found] == [(one.which, one.n) for one in other]
    for one, two in zip(found, other, strict=True):
        assert one.discrimination == pytest.approx(two.discrimination, abs=1e-9)
    assert find_diagnoses(students, TESTS) == find_diagnoses(shuffled, TESTS)
    assert len(students) >= FEWEST or not found
    assert [item for item in found if item.n < FEWEST and item != Item(item.which, 0)] == []


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 1)), min_size=2))
@example(
    [(False, 0.980340056), (False, 0.980340056), (True, 0.980340056)]
)  # due to rounding, the mean of equal values differs from these values
def test_correlation_is_bounded_and_scale_invariant(answers: list[tuple[bool, float]]) -> None:
    passed, rest = [one for one, _ in answers], [round(share, 9) for _, share in answers]
    found = point_biserial(passed, rest)
    assert (found is None) == (len({*passed}) < 2 or len({*rest}) < 2)
    if found is not None:
        assert -1 <= found <= 1
        assert point_biserial(passed, [100 * share for share in rest]) == pytest.approx(found, abs=1e-6)


def test_diagnosis_is_listed_with_most_common_next_failure() -> None:
    failed, looks = Answer("failed", 0, 1), Answer("failed", 0, 1, diagnosis="a sum, not a mean")
    some = {TESTS[0]: looks, TESTS[1]: looks, TESTS[3]: failed, TESTS[4]: failed}
    others = {TESTS[0]: looks, TESTS[2]: Answer("passed", 1, 1)}
    few = {TESTS[0]: Answer("failed", 0, 1, diagnosis="a product")}
    students = [*[some] * 8, *[others] * 4, *[few] * 9]
    assert find_diagnoses(students, TESTS) == [Diagnosed("first", "a sum, not a mean", 12, TESTS[3], 8)]


def test_page_and_tables_show_statistics_of_every_test(tmp_path: Path) -> None:
    results = list(make_class(20, timed=False))
    for one in results[: FEWEST - 1]:
        load.write(one, tmp_path)
    assert call_grader("report", tmp_path).code == 0
    assert 'id="tests"' not in (tmp_path / "report.html").read_text("utf-8"), "the class is too small"
    assert len((tmp_path / "items.csv").read_text("utf-8").splitlines()) == 1
    for one in results:
        load.write(one, tmp_path)
    done = call_grader("report", tmp_path)
    assert (done.code, done.err) == (0, "")
    assert f"tests:     {tmp_path}/items.csv, diagnoses.csv" in done.out
    page = (tmp_path / "report.html").read_text("utf-8")
    assert 'id="tests"' in page
    rows = list(csv.DictReader((tmp_path / "items.csv").read_text("utf-8").splitlines()))
    found = analyze([summarize_student(one, []) for one in results])
    assert [(row["kata"], row["test"], int(row["n"])) for row in rows] == [(*one.which, one.n) for one in found.items]
    for row, item in zip(rows, found.items, strict=True):
        if item.discrimination is not None:
            assert float(row["discrimination"]) == pytest.approx(item.discrimination, abs=1e-4)
    looks = list(csv.DictReader((tmp_path / "diagnoses.csv").read_text("utf-8").splitlines()))
    assert [row["looks_like"] for row in looks] == [one.diagnosis for one in found.diagnosed]
    assert ('id="diagnoses"' in page) == bool(looks)

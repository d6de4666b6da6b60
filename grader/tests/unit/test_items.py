"""Item analysis: what it counts, and where it keeps silent."""

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
from grader.tests.conftest import ask
from grader.tests.support.made_class import a_class
from grader.tests.support.made_results import result

TESTS = [Property(kata, test) for kata in ("first", "second", "third") for test in ("test_a", "test_b")]
OUTCOMES = st.sampled_from(["passed", "failed", "not_started"])
CLASSES = st.lists(
    st.dictionaries(
        st.sampled_from(TESTS),
        OUTCOMES.flatmap(
            lambda outcome: st.builds(
                Answer,
                st.just(outcome),
                st.floats(0, 5) if outcome == "passed" else st.just(0.0),
                st.just(5.0),
                seconds=st.floats(0, 600),
            )
        ),
    ),
    max_size=25,
)
SCIPY = {  # scipy.stats.pointbiserialr of scipy 1.17.1, for `drawn(n, share)`
    (10, 0.5): -0.5721755199113461,
    (100, 0.9): -0.13261185132228384,
    (500, 0.2): -0.012620400410492503,
    (60, 0.02): -0.2574026394008171,
}


def drawn(n: int, share: float) -> tuple[list[bool], list[float]]:
    """So many figures, and yes or no beside each."""
    chance = random.Random(n)
    figures = [chance.random() for _ in range(n)]
    return [chance.random() < share for _ in range(n)], figures


def passes(*marks: str) -> dict[Property, Answer]:
    """The first tests, by a letter each: passed, failed, or not started."""
    words = {"p": Answer("passed", 1, 1, 2.0), "f": Answer("failed", 0, 1, 4.0), "-": Answer("not_started", 0, 1)}
    return {test: words[mark] for test, mark in zip(TESTS, "".join(marks), strict=False)}


@pytest.mark.parametrize(("n", "share"), SCIPY)
def test_the_point_biserial_correlation_is_scipys(n: int, share: float) -> None:
    assert point_biserial(*drawn(n, share)) == pytest.approx(SCIPY[n, share], rel=0, abs=1e-9)


def test_the_figures_of_a_test_are_about_those_who_tried_it() -> None:
    students = [passes("ppp"), passes("pfp"), passes("f-f"), passes("ff-")] * 5
    first, second, third = analyze_tests(students, TESTS[:3])
    assert (first.n, first.difficulty, first.seconds) == (20, 0.5, 3.0)
    assert second.difficulty == pytest.approx(1 / 3)
    assert second.n == third.n == 15
    passed = [True, True, False, False] * 5
    rest = [1, 0.5, 0, 0] * 5
    assert first.discrimination == point_biserial(passed, rest), "of what else was tried, without its own point"


@given(CLASSES, st.randoms(use_true_random=False))
def test_the_order_of_a_class_is_irrelevant(students: list[Answers], chance: random.Random) -> None:
    shuffled = chance.sample(students, len(students))
    pairs = zip(analyze_tests(students, TESTS), analyze_tests(shuffled, TESTS), strict=True)
    for one, other in pairs:
        assert (one.which, one.n) == (other.which, other.n)
        assert one.discrimination == pytest.approx(other.discrimination, abs=1e-9)
    assert find_diagnoses(students, TESTS) == find_diagnoses(shuffled, TESTS)


@given(CLASSES)
def test_nothing_is_said_of_fewer_than_ten(students: list[Answers]) -> None:
    found = analyze_tests(students, TESTS)
    assert len(students) >= FEWEST or not found
    for item in found:
        assert item.n >= FEWEST or item == Item(item.which, 0)


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 1)), min_size=2))
@example([(False, 0.980340056), (False, 0.980340056), (True, 0.980340056)])  # all the same, and their mean is another
def test_correlation_is_bounded_and_scale_free(answers: list[tuple[bool, float]]) -> None:
    passed, rest = [one for one, _ in answers], [round(share, 9) for _, share in answers]
    found = point_biserial(passed, rest)
    assert (found is None) == (len({*passed}) < 2 or len({*rest}) < 2)
    if found is not None:
        assert -1 <= found <= 1
        assert point_biserial(passed, [100 * share for share in rest]) == pytest.approx(found, abs=1e-6)


def test_unreached_test_is_listed_without_figures() -> None:
    found = analyze_tests([passes("pp-"), passes("pf-")] * 8, TESTS[:3])
    assert [(item.n, item.difficulty) for item in found] == [(16, 1), (16, 0.5), (0, None)]


def test_what_many_look_like_is_told_with_what_they_fail_next() -> None:
    looks = Answer("failed", 0, 1, diagnosis="a sum, not a mean")
    some = {TESTS[0]: looks, TESTS[1]: looks, TESTS[3]: Answer("failed", 0, 1), TESTS[4]: Answer("failed", 0, 1)}
    rest = {TESTS[0]: looks, TESTS[2]: Answer("passed", 1, 1)}
    few = {TESTS[0]: Answer("failed", 0, 1, diagnosis="a product")}
    students = [*[some] * 8, *[rest] * 4, *[few] * 9]
    assert find_diagnoses(students, TESTS) == [Diagnosed("first", "a sum, not a mean", 12, TESTS[3], 8)]


def test_what_the_machine_has_spoilt_counts_nowhere() -> None:
    made = result()
    (kata,) = made.katas
    counted = {test.name for test in kata.tests if test.outcome not in ("inconclusive", "not_graded")}
    assert {which.test for which in collect_answers(made)} == counted


def test_the_page_and_the_tables_have_the_figures_of_every_test(tmp_path: Path) -> None:
    results = list(a_class(40, timed=False))
    for one in results:
        load.write(one, tmp_path)
    done = ask("report", tmp_path)
    assert (done.code, done.err) == (0, "")
    assert f"tests:     {tmp_path}/items.csv, diagnoses.csv" in done.out
    page = (tmp_path / "report.html").read_text("utf-8")
    assert 'id="tests"' in page
    rows = list(csv.DictReader((tmp_path / "items.csv").read_text("utf-8").splitlines()))
    found = analyze([summarize_student(one, [], ()) for one in results])
    assert [(row["kata"], row["test"], int(row["n"])) for row in rows] == [(*one.which, one.n) for one in found.items]
    for row, item in zip(rows, found.items, strict=True):
        if item.discrimination is not None:
            assert float(row["discrimination"]) == pytest.approx(item.discrimination, abs=1e-4)
    looks = list(csv.DictReader((tmp_path / "diagnoses.csv").read_text("utf-8").splitlines()))
    assert [row["looks_like"] for row in looks] == [one.diagnosis for one in found.diagnosed]
    assert ('id="diagnoses"' in page) == bool(looks)


def test_a_small_class_has_no_such_section(tmp_path: Path) -> None:
    for one in a_class(FEWEST - 1, timed=False):
        load.write(one, tmp_path)
    assert ask("report", tmp_path).code == 0
    page = (tmp_path / "report.html").read_text("utf-8")
    assert 'id="tests"' not in page
    assert len((tmp_path / "items.csv").read_text("utf-8").splitlines()) == 1

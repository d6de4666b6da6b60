"""Tests of `kata predict` without a terminal: its questions, its predictions file, and predictions on pages."""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from grader.commands.requirements import wrong_questions
from grader.output.page.write import Shown, render_submission
from grader.tests.support.html_tree import get_text, parse_html
from grader.tests.support.sample_results import HOSTILE, make_result
from grader.tests.unit.test_report import make_feedback
from torchkata.course import course
from torchkata.course.predictions import (
    MAX_BYTES,
    Comparison,
    Prediction,
    Predictions,
    compare_file,
    draw_sizes,
    format_file,
    has_questions,
    load_questions,
    parse_file,
    parse_number,
)

ASKED = [name for name in course().katas if has_questions(name)]
GIVEN = Predictions(7, {"roofline": {"matmul": Prediction(100.0), "inference": Prediction(0.01, runs=2)}})


@pytest.mark.parametrize("kata", ASKED)
def test_each_kata_asks_three_questions(kata: str) -> None:
    assert [*wrong_questions(course().katas[kata])] == []
    assert len(load_questions(kata)) == 3


def test_sizes_in_questions_depend_on_the_seed() -> None:
    for kata in ASKED:
        for name, question in load_questions(kata).items():
            draws = [draw_sizes(question, seed, kata, name) for seed in range(64)]
            assert draws[5] == draw_sizes(question, 5, kata, name)
            for size, values in question.sizes.items():
                assert {draw[size] for draw in draws} == {*values}, "neighbors must get different sizes"


def test_predictions_are_compared_with_correct_values() -> None:
    found = compare_file(format_file(GIVEN), course().katas)
    n = draw_sizes(load_questions("roofline")["matmul"], 7, "roofline", "matmul")["n"]
    assert [one.predicted for one in found] == [100.0, 0.01]
    assert found[0].ratio == pytest.approx(100 / (n / 3))
    assert f"two {n} × {n} matrices" in found[0].text
    assert [one.runs for one in found] == [0, 2]
    assert compare_file(format_file(GIVEN), ["linear"]) == [], "predictions about other katas must be left out"


def test_measured_value_is_read_from_predictions_file() -> None:
    given = {"seconds": Prediction(0.1, measured=0.05), "dtype": Prediction(2.0)}
    (found,) = compare_file(format_file(Predictions(1, {"time_matmul": given})), ["time_matmul"])
    assert (found.right, found.measured, found.ratio) == (0.05, True, 2.0)


NUMBERS = st.one_of(st.floats(), st.integers(), st.integers(10**400, 10**401), st.booleans(), st.none(), st.text())
ENTRIES = st.fixed_dictionaries({}, optional={"predicted": NUMBERS, "runs": NUMBERS, "measured": NUMBERS}) | NUMBERS
KATAS = st.dictionaries(
    st.sampled_from(["time_matmul", "linear", "x"]),
    NUMBERS | st.dictionaries(st.sampled_from(["seconds", "flops", "<b>"]), ENTRIES),
)
FILES = st.one_of(
    st.binary(),
    st.fixed_dictionaries({"seed": NUMBERS | st.just(3), "katas": KATAS | NUMBERS}).map(
        lambda table: json.dumps(table).encode()
    ),
    st.sampled_from([b"[" * 50_000, b'{"seed":' * 9_000, b"1" * 60_000, b" " * (MAX_BYTES + 1), b'{"seed": true}']),
)


@given(FILES)
def test_any_predictions_file_yields_only_positive_numbers(content: bytes) -> None:
    for one in compare_file(content, course().katas):
        assert one.kata == "time_matmul"
        assert all(0 < value < math.inf for value in (one.predicted, one.right, one.ratio))
        assert one.runs >= 0
    found = parse_file(content)
    assert found is None or parse_file(format_file(found)) == found


@pytest.mark.parametrize(
    ("typed", "number"), [("1e12", 1e12), ("3.2e9", 3.2e9), ("12_000", 12000), (" 7 ", 7), ("0.5", 0.5)]
)
def test_numbers_are_parsed_in_common_notations(typed: str, number: float) -> None:
    assert parse_number(typed) == number


@pytest.mark.parametrize("typed", ["x", "12 GiB", "1,5", "nan", "inf", "-1", "0", "1e999", "1e-999", "0x10"])
def test_input_that_is_not_positive_number_is_rejected(typed: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        parse_number(typed)


def test_report_pages_show_predictions() -> None:
    rows = [
        Comparison("roofline", HOSTILE.replace("\ud800", ""), "FLOP/byte", 100.0, 128.0, measured=False, runs=2),
        Comparison("time_matmul", "How long?", "seconds", 0.1, 0.05, measured=True),
    ]
    result: Any = replace(make_result(), predictions=rows)
    for page in (make_feedback(result), render_submission(Shown(result, [], None), ())):
        cells = [" ".join(get_text(element).split()) for element in parse_html(page).iter() if element.tag == "td"]
        assert "100 after 2 test runs" in cells
        assert "128 FLOP/byte" in cells
        assert cells[-4:] == ["time_matmul How long?", "0.1", "0.05 seconds measured on the student's machine", "2"]
        assert "<script>alert" not in page
    assert "Predictions" not in make_feedback(make_result())

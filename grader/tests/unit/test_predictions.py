"""Tests of `kata predict` without a terminal: its questions and its predictions file."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.commands.requirements import wrong_questions
from torchkata.course import course
from torchkata.course.predictions import (
    MAX_BYTES,
    Prediction,
    draw_sizes,
    find_right,
    format_file,
    has_questions,
    load_questions,
    parse_file,
    parse_number,
)

ASKED = [name for name in course().katas if has_questions(name)]


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


def test_correct_number_follows_from_the_drawn_sizes() -> None:
    question = load_questions("roofline")["matmul"]
    sizes = draw_sizes(question, 7, "roofline", "matmul")
    assert find_right(question, sizes, Prediction(100.0)) == pytest.approx(sizes["n"] / 3)
    assert f"two {sizes['n']} × {sizes['n']} matrices" in question.text.format(**sizes)


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
    found = parse_file(content)
    for kata, predictions in found.katas.items() if found else ():
        assert kata in ("time_matmul", "linear")
        for one in predictions.values():
            assert all(0 < value < math.inf for value in (one.predicted, one.measured or 1))
            assert one.runs >= 0
    assert found is None or parse_file(format_file(found)) == found


@pytest.mark.parametrize(
    ("typed", "number"), [("1e12", 1e12), ("3.2e9", 3.2e9), ("12_000", 12000), (" 7 ", 7), ("0.5", 0.5)]
)
def test_numbers_are_parsed_in_common_notations(typed: str, number: float) -> None:
    assert parse_number(typed) == number

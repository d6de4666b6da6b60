"""Tests of `kata predict` without a terminal: its questions and its predictions file."""

import pytest

from grader.commands.requirements import wrong_questions
from torchkata.course import course
from torchkata.course.predictions import (
    Prediction,
    Predictions,
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


def test_measured_value_is_read_from_predictions_file() -> None:
    given = Predictions(1, {"time_matmul": {"seconds": Prediction(0.1, measured=0.05), "dtype": Prediction(2.0)}})
    found = parse_file(format_file(given))
    assert found == given
    question = load_questions("time_matmul")["seconds"]
    assert [find_right(question, {}, one) for one in found.katas["time_matmul"].values()] == [0.05, None]


NUMBERS = ('{"predicted": -1}', '{"predicted": NaN}', '{"predicted": "7"}', "7", '{"runs": 1}')


@pytest.mark.parametrize(
    "content",
    [
        *(b"[" * 50_000, b"1" * 60_000, b"\xff", b"[]", b'{"seed": 3}', b'{"seed": true, "katas": {}}'),
        *(
            f'{{"seed": 3, "katas": {{"roofline": {{"a": {entry}, "b": {{"predicted": 7}}}}}}}}'.encode()
            for entry in NUMBERS
        ),
    ],
)
def test_damaged_predictions_file_is_not_read(content: bytes) -> None:
    assert parse_file(content) is None


@pytest.mark.parametrize(
    ("typed", "number"), [("1e12", 1e12), ("3.2e9", 3.2e9), ("12_000", 12000), (" 7 ", 7), ("0.5", 0.5)]
)
def test_numbers_are_parsed_in_common_notations(typed: str, number: float) -> None:
    assert parse_number(typed) == number

"""Tests of comparing documented and printed output: only the last digit of a number may differ."""

import pytest

from grader.tests.support.printed_output import lines_agree


@pytest.mark.parametrize(
    ("shown", "printed", "accepted"),
    [
        ("yours  [0.4411642, 0.1841229]", "yours  [0.4411641, 0.184123]", True),
        ("yours  [0.4411642, 0.1841229]", "yours  [0.4511642, 0.1841229]", False),
        ("it is 1.5e-06", "it is 1.5e-05", False),
        ("it is 0.999999", "it is 1", True),
        ("float32[3, 2]", "float32[3, 3]", False),
        ("Python 3.11.7", "Python 3.11.8", False),
        ("done 6/6", "done 5/6", False),
        ("copying a param …", "copying a param with shape", True),
        ("copying a param …", "copying the param with shape", False),
        ("it is [1.25, …", "it is [1.35, 2]", False),
    ],
)
def test_printed_text_matches_exactly_and_numbers_approximately(shown: str, printed: str, accepted: bool) -> None:
    assert lines_agree(shown, printed) is accepted

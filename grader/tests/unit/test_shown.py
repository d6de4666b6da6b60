"""What is shown is compared with what is printed: any last digit may differ, no second one."""

import re
from pathlib import Path

import pytest

from grader.tests.documents import DOCUMENTS, sections
from grader.tests.shown import NUMBER, assert_shown, fail_at, lines_agree

BLOCKS = [block for document in DOCUMENTS for section in sections(document) for block in section.shown]
LINES = sorted({line for block in BLOCKS for line in block.splitlines() if re.search(r"\d\.\d", line)})


def with_digit_changed(number: str, place: int) -> str:
    """Return a number with another significant digit at this place (from 0, or from the end)."""
    mantissa, e, exponent = number.partition("e")
    places = [found.start() for found in re.finditer(r"\d", mantissa)]
    first = next(index for index, at in enumerate(places) if mantissa[at] != "0")
    at = places[first:][place]
    digit = str((int(mantissa[at]) + 5) % 10)
    return mantissa[:at] + digit + mantissa[at + 1 :] + e + exponent


def floats(line: str) -> list[tuple[int, int]]:
    """Return where the numbers with a decimal point and at least three digits stand in a line."""
    found = [match for match in NUMBER.finditer(line) if "." in match[0]]
    return [match.span() for match in found if len(re.sub(r"\D", "", match[0].partition("e")[0]).lstrip("0")) > 2]


@pytest.mark.parametrize(("place", "accepted"), [(-1, True), (1, False)], ids=["last digit", "second digit"])
def test_only_the_last_digit_may_differ(place: int, accepted: bool) -> None:
    tried = 0
    for line in LINES:
        for begin, end in floats(line):
            other = line[:begin] + with_digit_changed(line[begin:end], place) + line[end:]
            assert lines_agree(line, other) is accepted, other
            tried += 1
    assert tried > 20


@pytest.mark.parametrize(
    ("shown", "printed", "accepted"),
    [
        ("yours  [0.4411642, 0.1841229]", "yours  [0.4411641, 0.184123]", True),
        ("yours  [0.4411642, 0.1841229]", "yours  [0.4511642, 0.1841229]", False),
        ("yours  [0.4411642, 0.1841229]", "yours  [0.4411642]", False),
        ("lr=0.1", "lr=0.1000001", True),
        ("lr=0.1", "lr=0.2", False),
        ("x = -1.304", "x = 1.304", False),
        ("it is 1.5e-06", "it is 1.5e-05", False),
        ("it is 1.0", "it is 1", True),
        ("it is 0.999999", "it is 1", True),
        ("line 15", "line 16", False),
        ("float32[3, 2]", "float32[3, 3]", False),
        ("bfloat16", "float16", False),
        ("Python 3.11.7", "Python 3.11.8", False),
        ("done   6/6", "done 6/6", True),
        ("done 6/6", "done 5/6", False),
        ("copying a param …", "copying a param with shape", True),
        ("copying a param …", "copying the param with shape", False),
        ("it is [1.25, …", "it is [1.250001, 2]", True),
        ("it is [1.25, …", "it is [1.35, 2]", False),
        ("cut …", "cut …", True),
    ],
)
def test_text_is_exact_and_numbers_are_near(shown: str, printed: str, accepted: bool) -> None:
    assert lines_agree(shown, printed) is accepted


def test_lines_are_printed_in_their_order() -> None:
    printed = ["one", "", "two", "three", "four"]
    assert_shown(["two", "three"], printed)
    assert_shown(["one", "  …", "four"], printed)
    for wrong in (["two", "one"], ["one", "three"], ["four", "five"], ["0"]):
        with pytest.raises(AssertionError, match="is shown"):
            assert_shown(wrong, printed)


def test_failure_names_file_and_line(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Page\n\n>>> 1 +\n", "utf-8")
    with pytest.raises(pytest.fail.Exception, match=r"page\.md:3: it does not parse$"):
        fail_at(page, ">>> 1 +", "it does not parse")

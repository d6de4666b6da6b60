"""Text from submissions is truncated and sanitized before it is printed."""

import pytest

from grader.base.text import MOST_NAMES, MOST_QUOTED, list_names, one_line, printable, quote
from grader.pipeline.trees import SubmissionError


@pytest.mark.parametrize("text", ["x" * 10**6, "\u202e" * 10**5, "\x1b" * 10**5, "\ud800" * 10**5])
def test_every_long_text_is_truncated(text: str) -> None:
    assert len(printable(text)) <= 32 * 2**10
    assert len(one_line(text)) <= 2000
    assert len(quote(text)) <= MOST_QUOTED
    assert len(str(SubmissionError("why", text))) <= MOST_QUOTED + len("why ()")
    assert printable(text).endswith("…")


def test_quoted_names_escape_unprintable_characters() -> None:
    assert quote("Zoë 李雷") == "Zoë 李雷"
    assert quote("caf\udce9\x1b[31m\n") == r"'caf\udce9\x1b[31m\n'"


def test_long_lists_of_names_are_shortened() -> None:
    assert list_names(["a", "b"]) == "a, b"
    assert list_names(["a"] * (MOST_NAMES + 3)).endswith("a and 3 more")

"""Text of a student's in a stored result is printable and of bounded length, whatever parameters are called."""

import json

import pytest

from grader.tests.conftest import FEW, grade
from grader.tests.support.submissions import edit_solution
from torchkata.inside.values import Opaque
from torchkata.result import MAX_LINE, MOST, TestResult

HOSTILE = "a\x1b]0;title\x07\x1b[31m\u202e\nmachine   the machine failed\r\u2028b"


def list_texts(value: object) -> list[str]:
    """Return all strings in parsed JSON."""
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for one in inner for text in list_texts(one)]


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the stored result of a student who names a parameter and a type with hostile text."""
    folder = tmp_path_factory.mktemp("class")
    made = "self.final = Linear(dim, 1)"
    named = edit_solution("cruncher", made, f"{made}\n        setattr(self, NAME, self.final.weight)")
    typed = edit_solution("linear", "return x @ self.weight", f"return type({HOSTILE!r} * 9999, (), {{}})()")
    (folder / "eve").mkdir()
    (folder / "eve/cruncher.py").write_text(f"{named}\n\nNAME = {HOSTILE!r} + 'k' * 100_000\n")
    (folder / "eve/linear.py").write_text(typed)
    options = ("--kata", "linear,cruncher", "--examples", FEW, "--isolation", "none")
    assert grade(folder / "eve", "--out", folder / "out", *options).code == 0
    return (folder / "out/eve/result.json").read_text("utf-8")


def test_names_in_stored_result_are_clean_and_bounded(result: str) -> None:
    texts = list_texts(json.loads(result))
    messages = [text for text in texts if "\n" in text]
    assert "kkkk" in result, "the parameter's name occurs"
    assert "title" in "".join(messages), "the type's name occurs"
    assert all(line.isprintable() and len(line) <= MAX_LINE + 100 for text in texts for line in text.split("\n"))
    assert not [text for text in messages if "\nmachine" in text or "\n  machine" in text]
    assert len(result) < 60_000


def test_every_text_of_a_result_is_clean() -> None:
    made = TestResult(
        "t", "failed", message=f"{HOSTILE}\n" * 9999, diagnosis=HOSTILE * 999, file=HOSTILE, cause=HOSTILE
    )
    assert len(made.message) <= MOST
    assert len(made.diagnosis or "") <= MAX_LINE
    for text in (*made.message.split("\n"), made.diagnosis or "", made.file, made.cause):
        assert text.isprintable()


def test_name_of_a_type_is_clean() -> None:
    assert str(Opaque(HOSTILE * 99).type_name).isprintable()
    assert len(str(Opaque("x" * 10**6).type_name)) < 1000

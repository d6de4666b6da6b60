"""What a student reads of all failures of a kata: a block for each reason, the clearest first."""

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchkata.course import course
from torchkata.diagnosis.explain import explain
from torchkata.i18n import count_columns, wrap
from torchkata.pytest_plugin.failure_groups import group_failures
from torchkata.pytest_plugin.report import write_failures
from torchkata.result import TestResult
from torchkata.seam.failures import Crashed, Place, Unmet, Wrong


def failed(name: str, error: BaseException, diagnosis: str = "") -> TestResult:
    """A test that this error has ended."""
    return explain(name, f"linear · {name}", error, None, "pytest", diagnosis, diagnosis)


def told(*results: TestResult) -> list[list[str]]:
    """The names in each block; those that wait end with a word that says so."""
    return [[test.name for test in block.tests] + ["wait"] * block.waits for block in group_failures(results)]


WRONG, OTHER = Wrong(expected="1", yours="2"), Wrong(expected="1", yours="3")
STUCK = Crashed("RuntimeError: size mismatch", Place(source="layer.load_state_dict(weights)"))
OWN_LINE = Crashed("TypeError: no", Place("linear.py", 7, "x + None"))


def test_what_one_mistake_explains_is_one_block_and_comes_first() -> None:
    results = [
        failed("a", WRONG),
        failed("b", OTHER, "uphill"),
        TestResult("c", "passed"),
        failed("d", WRONG, "uphill"),
    ]
    assert told(*results) == [["b", "d"], ["a"]]


def test_what_a_named_mistake_explains_among_others_is_told_with_it() -> None:
    several = replace(failed("a", WRONG), explained_by=("uphill", "still"))
    named = replace(failed("b", OTHER, "uphill"), explained_by=("uphill",))
    assert told(several, named) == [["b", "a"]]
    assert told(several, failed("c", OTHER)) == [["a"], ["c"]], "nobody has named it"


def test_what_stumbles_over_one_line_is_one_block() -> None:
    assert told(failed("a", OWN_LINE), failed("b", WRONG), failed("c", OWN_LINE)) == [["a", "c"], ["b"]]


def test_a_test_that_could_not_ask_its_question_waits_for_those_that_say_why() -> None:
    assert told(failed("a", STUCK), failed("b", WRONG), failed("c", STUCK)) == [["b"], ["a", "c", "wait"]]
    assert told(failed("a", STUCK), failed("c", STUCK)) == [["a", "c"]], "nothing else says why"


def test_a_test_that_could_not_ask_its_question_says_what_it_tried_and_counts_as_failed() -> None:
    result = failed("a", STUCK)
    assert result.message.splitlines()[1:3] == [
        "  tried     layer.load_state_dict(weights)",
        "  raised    RuntimeError: size mismatch",
    ]
    assert result.outcome == "failed"


def test_hidden_tests_of_which_nothing_is_told_are_blocks_of_their_own() -> None:
    hidden = [TestResult(name, "failed", message=f"linear · {name}\n  What it asked is hidden.") for name in "ab"]
    assert told(*hidden) == [["a"], ["b"]]


def parts(lines: Sequence[str]) -> list[str]:
    """The words of all lines."""
    return " ".join(lines).split()


@given(st.lists(st.text("abc,[]", min_size=1, max_size=12), min_size=1, max_size=40), st.integers(30, 99))
def test_a_line_is_broken_between_words_at_any_width(said: list[str], width: int) -> None:
    line = f"  note      {' '.join(said)}"
    lines = wrap(line, width)
    assert parts(lines) == parts([line])
    assert all(count_columns(one) <= width for one in lines)
    assert all(one.startswith(" " * 12) for one in lines[1:])


def test_chinese_is_broken_between_characters_and_no_line_begins_with_a_comma(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KATA_LANG", "zh")
    text = "权重应为（输入，输出），而不是反过来；" * 5
    lines = wrap(f"  说明      {text}", 40)
    assert "".join(line.strip() for line in lines).replace("说明      ", "") == text
    assert all(count_columns(line) <= 40 for line in lines)
    assert not any(line.strip().startswith(("，", "；")) for line in lines)


def test_a_command_to_be_copied_stays_whole() -> None:
    line = f"  again: pytest {'x' * 200} --seed 7"
    assert wrap(line, 60) == [line]


def test_a_test_whose_need_is_not_met_waits_for_the_one_that_says_so() -> None:
    need = Unmet(note="the form is wrong", expected="float32[2, 3]", yours="float32[3, 2]")
    assert told(failed("a", need), failed("b", WRONG)) == [["b"], ["a", "wait"]]
    assert "  note      the form is wrong" in failed("a", need).message


class Written:
    """A terminal's report that keeps its lines."""

    isatty = True

    def __init__(self) -> None:
        self.lines: list[str] = []

    def write_line(self, line: str, **_: bool) -> None:
        self.lines += line.splitlines() or [""]


@pytest.mark.parametrize(("height", "count"), [(10, 1), (28, 2), (60, 3)])
def test_as_many_failures_are_told_as_fit_on_the_terminal_and_one_at_least(
    height: int, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LINES", str(height))
    monkeypatch.setenv("COLUMNS", "80")
    kata = course().katas["linear"]
    body = "\n  expected  1\n  yours     2\n  note      three\n  note      four\n  "
    results = [TestResult(name, "failed", message=f"{name}{body}{name}\n  again: pytest") for name in kata.points][:4]
    out = Written()
    write_failures(cast(pytest.TerminalReporter, out), kata, results, 3)
    assert [result.name for result in results if result.name in out.lines] == [*kata.points][:count]
    assert out.lines[-1].startswith(f"  … and {4 - count} more of linear")

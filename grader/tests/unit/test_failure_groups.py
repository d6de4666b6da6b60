"""Tests of how the failures of a kata are grouped, wrapped and printed for a student."""

import os
import time
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchkata import typed
from torchkata.compare.assertions import precondition
from torchkata.course import course
from torchkata.diagnosis.explain import explain
from torchkata.i18n import count_columns, wrap
from torchkata.pytest_plugin.failure_groups import group_failures, render_block
from torchkata.pytest_plugin.run_summary import write_failures
from torchkata.pytest_plugin.slow_test_notice import LONGER, PATIENCE, Watch
from torchkata.result import TestResult
from torchkata.seam.failures import Crashed, Place, Unmet, Wrong
from torchkata.seam.student import Call


def make_failure(name: str, error: BaseException, diagnosis: str = "") -> TestResult:
    """Return the result of a test that raised the given error."""
    return explain(name, f"linear · {name}", error, None, "pytest", diagnosis, diagnosis)


WRONG, OTHER = Wrong(expected="1", yours="2"), Wrong(expected="1", yours="3")
STUCK = Crashed("RuntimeError: size mismatch", Place(source="layer.load_state_dict(weights)"))
OWN_LINE = Crashed("TypeError: no", Place("linear.py", 7, "x + None"))
SAME_LINE = Crashed("TypeError: never", Place("linear.py", 7, "x + None"))
LONG_LINE = Crashed(f"TypeError: {'no' * 99}", Place("linear.py", 7, "x + None"))
EARLIER = Crashed("TypeError: no", Place("linear.py", 7, "x + None"))
with pytest.raises(Crashed), precondition():
    raise EARLIER
UNMET = Unmet(note="the form is wrong", expected="float32[2, 3]", yours="float32[3, 2]")
SEVERAL = replace(make_failure("a", WRONG), explained_by=("uphill", "still"))
NAMED = replace(make_failure("b", OTHER, "uphill"), explained_by=("uphill",))
RARE = replace(make_failure("d", OTHER, "rare"), explained_by=("rare",))


@pytest.mark.parametrize(
    ("results", "groups"),
    [
        (
            [make_failure("a", WRONG), NAMED, TestResult("c", "passed"), make_failure("d", WRONG, "uphill")],
            [["b", "d"], ["a"]],
        ),
        ([SEVERAL, NAMED], [["b", "a"]]),
        ([SEVERAL, make_failure("c", OTHER)], [["a"], ["c"]]),
        ([RARE, NAMED, SEVERAL], [["b", "a"], ["d"]]),
        ([make_failure("a", SAME_LINE), make_failure("b", WRONG), make_failure("c", OWN_LINE)], [["b"], ["c", "a"]]),
        ([make_failure("a", STUCK), make_failure("b", WRONG), make_failure("c", STUCK)], [["b"], ["a", "c", "wait"]]),
        ([make_failure("a", STUCK), make_failure("c", STUCK)], [["a", "c"]]),
        ([make_failure("a", UNMET), make_failure("b", WRONG)], [["b"], ["a", "wait"]]),
        ([make_failure("a", EARLIER), make_failure("b", WRONG)], [["b"], ["a", "wait"]]),
        ([make_failure("a", EARLIER), make_failure("b", LONG_LINE)], [["b", "a"]]),
        (
            [make_failure("a", UNMET, "still"), NAMED, make_failure("c", UNMET), TestResult("d", "passed")],
            [["b"], ["a", "c", "wait"]],
        ),
        ([make_failure("a", UNMET, "still"), make_failure("b", WRONG)], [["a"], ["b"]]),
        ([make_failure("a", UNMET, "still"), SEVERAL, RARE], [["a", "a"], ["d"]]),
        ([TestResult(name, "failed", message=f"linear · {name}\n  hidden") for name in "ab"], [["a"], ["b"]]),
    ],
    ids=[
        "named first",
        "shared name",
        "no name",
        "most frequent first",
        "same line, shortest first, after a wrong answer",
        "unasked waits",
        "all unasked",
        "unmet",
        "crashed in a precondition",
        "crashed at the same line, once in a precondition",
        "unmet, of its own kind",
        "unmet, and the only one that is named",
        "unmet, which narrows down another",
        "hidden",
    ],
)
def test_failures_with_same_cause_are_grouped(results: list[TestResult], groups: list[list[str]]) -> None:
    assert [[test.name for test in group.tests] + ["wait"] * group.waits for group in group_failures(results)] == groups


@typed("with torch.no_grad():\n    f()")
def take_two_lines(assignment: Any) -> None: ...


@typed("f()")
def take_one_line(assignment: Any) -> None: ...


@pytest.mark.parametrize(("language", "reference"), [("en", "  input     as above"), ("zh", "  输入      同上")])
def test_long_input_of_block_above_is_not_repeated(
    language: str, reference: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KATA_LANG", language)
    kata = course().katas["linear"]
    for probe in (take_two_lines, take_one_line):
        results = [explain(name, name, Wrong(yours=name), Call(probe, []), "", name, name) for name in "ab"]
        one, other = group_failures(results)
        whole, short = render_block(kata, other), render_block(kata, other, one)
        place = next(place for place, line in enumerate(whole) if line.startswith(reference[:8]))
        expected = [*whole[:place], reference, *whole[place + 2 :]] if probe is take_two_lines else whole
        assert short == expected


def test_error_raised_by_probe_is_a_note() -> None:
    crash = Crashed(
        "ValueError: weight is a plain tensor", Place(source='raise ValueError(f"{key} is a plain tensor")')
    )
    assert make_failure("a", crash).message.splitlines()[1:-1] == ["  note      weight is a plain tensor"]


def test_failed_setup_or_precondition_shows_reason() -> None:
    stuck, unmet = make_failure("a", STUCK), make_failure("a", UNMET)
    assert (stuck.outcome, unmet.outcome) == ("failed", "failed")
    tried = ["  tried     layer.load_state_dict(weights)", "  raised    RuntimeError: size mismatch"]
    assert stuck.message.splitlines()[1:3] == tried
    assert "  note      the form is wrong" in unmet.message


@given(st.lists(st.text("abc,[]", min_size=1, max_size=12), min_size=1, max_size=40), st.integers(30, 99))
def test_english_lines_wrap_between_words(parts: list[str], width: int) -> None:
    text = f"  note      {' '.join(parts)}"
    lines = wrap(text, width)
    assert " ".join(lines).split() == text.split()
    assert all(count_columns(line) <= width for line in lines)
    assert all(line.startswith(" " * 12) for line in lines[1:])


def test_chinese_lines_never_break_before_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KATA_LANG", "zh")
    text = "权重应为（输入，输出），而不是反过来；" * 5
    lines = wrap(f"  说明      {text}", 40)
    assert "".join(line.strip() for line in lines).replace("说明      ", "") == text
    assert all(count_columns(line) <= 40 for line in lines)
    assert not any(line.strip().startswith(("，", "；")) for line in lines)


def test_copyable_command_is_not_wrapped() -> None:
    line = f"  again: pytest {'x' * 200} --seed 7"
    assert wrap(line, 60) == [line]


@pytest.mark.parametrize("is_early", [False, True], ids=["", "shown early"])
@pytest.mark.parametrize(("height", "count"), [(10, 1), (28, 2), (60, 3)])
def test_terminal_height_limits_number_of_failures_shown(
    height: int, count: int, is_early: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LINES", str(height))
    monkeypatch.setenv("COLUMNS", "80")
    kata = course().katas["linear"]
    body = "\n  expected  1\n  yours     2\n  note      three\n  note      four\n  "
    results = [TestResult(name, "failed", message=f"{name}{body}{name}\n  again: pytest") for name in kata.points][:4]
    lines: list[str] = []
    terminal: Any = SimpleNamespace(isatty=True, write_line=lambda text, **_: lines.extend(text.splitlines()))
    write_failures(terminal, kata, results, 3, results[0].message if is_early else "")
    names = [line.removesuffix(" (see above)") for line in lines]
    assert [result.name for result in results if result.name in names] == [*kata.points][:count]
    assert lines[-1].startswith(f"  … and {4 - count} more of linear")
    assert [line for line in lines if "see above" in line] == [f"{results[0].name} (see above)"] * is_early
    assert lines.count("  again: pytest") == count - is_early


def test_failure_with_diagnosis_is_preferred_during_run() -> None:
    watch, seen = Watch(0), []
    for name, diagnosis in (("a", None), ("b", "x is added"), ("c", "x is doubled")):
        watch.add(TestResult(name, "failed", diagnosis=diagnosis))
        assert watch.failed is not None
        seen.append((watch.failed[0].name, round(watch.failed[1] - time.monotonic())))
    assert seen == [("a", LONGER), ("b", PATIENCE), ("b", PATIENCE)]


def test_failure_is_shown_during_slow_run(monkeypatch: pytest.MonkeyPatch) -> None:
    shown, terminal = os.pipe()
    watch = Watch(terminal, width=19)
    message = "linear · x is added\n  yours     one, two"
    watch.failed = TestResult("x", "failed", message=message), time.monotonic() - 1
    monkeypatch.setattr(time, "monotonic", lambda: -1e6)  # as while a probe simulates a machine
    watch.start()
    assert os.read(shown, 1000).decode() == "\nlinear · x is added\n  yours     one,\n            two\n"
    watch.ended.set()
    watch.join()
    assert watch.early == message
    os.close(shown)
    os.close(terminal)

"""Applies `waive.toml`, in which an instructor gives everybody the points of a test, or leaves a test out.

"linear.test_x" = "full"  # everybody gets the points of the test
"linear.test_y" = "drop"  # the test counts for nobody, and its points leave the maximum
"""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from grader.base.errors import CallError
from grader.marks.tables import read_text
from grader.results.result import KataResult, Result
from torchkata.course import course
from torchkata.i18n import translate_for_class as _
from torchkata.result import TestResult, get_status

Waivers: TypeAlias = Mapping[str, Mapping[str, Literal["full", "drop"]]]  # keyed by kata and test
Waive: TypeAlias = Callable[[Result], Result]

FILE = "waive.toml"


def waive_nothing(result: Result) -> Result:
    """Return the result unchanged."""
    return result


def read_waivers(folder: Path | None) -> Waive:
    """Return the function that applies `waive.toml` to a result. Raises CallError if the file is invalid."""
    waivers: dict[str, dict[str, Literal["full", "drop"]]] = {}
    path = folder / FILE if folder is not None else None
    try:
        table = msgspec.toml.decode(read_text(path).removeprefix("\ufeff")) if path and path.exists() else {}
        for name, value in table.items():
            kata, _, test = name.partition(".")
            waivers[kata] = waivers.get(kata, {}) | msgspec.convert({test: value} if test else value, dict)
        waivers = msgspec.convert(waivers, dict[str, dict[str, Literal["full", "drop"]]])
    except (msgspec.DecodeError, msgspec.ValidationError):
        raise CallError(f'{path}: write each line as "linear.test_x" = "full" or "drop"') from None
    for kata, tests in waivers.items():
        for test in tests:
            if kata not in course().katas or test not in course().katas[kata].points:
                raise CallError(f"{path}: the course has no test {kata}.{test}")
    return partial(apply_waivers, waivers) if waivers else waive_nothing


def apply_waivers(waivers: Waivers, result: Result) -> Result:
    """Return the result with the points of the waived tests."""
    katas = [waive_tests(kata, waivers.get(kata.kata, {})) for kata in result.katas]
    pairs = list(zip(katas, result.katas, strict=True))
    return replace(
        result,
        katas=katas,
        score=result.score + sum(new.score - old.score for new, old in pairs),
        max_score=result.max_score + sum(new.max_score - old.max_score for new, old in pairs),
    )


def waive_tests(kata: KataResult, waivers: Mapping[str, Literal["full", "drop"]]) -> KataResult:
    """Return the result of a kata with the points of the waived tests."""
    if waivers.keys().isdisjoint(test.name for test in kata.tests):
        return kata
    tests = tuple(
        give_points(test) if test.name in waivers else test for test in kata.tests if waivers.get(test.name) != "drop"
    )
    return replace(
        kata,
        tests=tests,
        status=get_status([test.outcome for test in tests]),
        score=sum(test.score for test in tests),
        max_score=sum(test.max_score for test in tests),
    )


def give_points(test: TestResult) -> TestResult:
    """Return the result of a test that everybody gets the points of."""
    message = _("waived: this test is broken. This is not your fault, and you get its full points.")
    return TestResult(test.name, "waived", test.max_score, test.max_score, message, seconds=test.seconds)

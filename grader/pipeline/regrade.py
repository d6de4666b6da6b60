"""Reuses stored results when submissions are graded again."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from grader.results.result import KataResult, Result


def find_reusable(stored: Result | None, hand_in: str, judges: Mapping[str, str]) -> dict[str, KataResult]:
    """Return the stored results that a regrade would reproduce, keyed by kata: those whose two digests still apply.

    A kata with a waived test is graded again, because the test may be right by now.
    """
    if stored is None or stored.hand_in != hand_in:
        return {}
    standing = [kata for kata in stored.katas if kata.digest == judges.get(kata.kata) and kata.status != "inconclusive"]
    return {kata.kata: kata for kata in standing if not has_waived_test(kata)}


def has_waived_test(kata: KataResult) -> bool:
    """Return whether everybody has got the points of a test of this kata because it is broken."""
    return any(test.outcome == "waived" for test in kata.tests)


def list_done(stored: Result | None) -> frozenset[str]:
    """Return the katas that are done according to a stored result."""
    return frozenset(kata.kata for kata in stored.katas if kata.status == "done") if stored else frozenset()


def keep_better(stored: Result | None, katas: Sequence[KataResult]) -> list[KataResult]:
    """Return one result per kata: the stored one if it has the same tests and more points, otherwise the new one."""
    before: Mapping[str, KataResult] = {kata.kata: kata for kata in stored.katas} if stored else {}
    found = []
    for new in katas:
        old = before.get(new.kata, new)
        wins = old.score > new.score and new.status != "inconclusive" and get_points(old) == get_points(new)
        version = old.kept or (stored.course if stored else "") or "an earlier version"
        found.append(replace(old, digest=new.digest, kept=version) if wins else new)
    return found


def get_points(kata: KataResult) -> dict[str, float]:
    """Return the maximum points of each test."""
    return {test.name: test.max_score for test in kata.tests}

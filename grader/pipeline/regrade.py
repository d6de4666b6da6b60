"""Reuses stored results when submissions are graded again."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from grader.results.dependencies import digest_kata
from grader.results.result import KataResult, Result
from torchkata.course import Kata


def find_reusable(stored: Result | None, basis: str, katas: Iterable[Kata]) -> dict[str, KataResult]:
    """Return the stored results that a regrade would reproduce, keyed by kata."""
    if stored is None or stored.basis != basis:
        return {}
    results = {kata.kata: kata for kata in stored.katas if kata.status != "inconclusive"}
    return {
        kata.name: results[kata.name]
        for kata in katas
        if kata.name in results and results[kata.name].digest == digest_kata(kata.name)
    }


def list_done(stored: Result | None) -> frozenset[str]:
    """Return the katas that are done according to a stored result."""
    return frozenset(kata.kata for kata in stored.katas if kata.status == "done") if stored else frozenset()


def add_digests(katas: Iterable[KataResult]) -> list[KataResult]:
    """Return the results, each with the current digest of its kata in the course."""
    return [replace(kata, digest=digest_kata(kata.kata)) for kata in katas]


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

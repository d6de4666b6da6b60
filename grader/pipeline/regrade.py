"""What a regrade need not do again, and what it may not take away."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from grader.results.dependencies import digest_kata
from grader.results.result import KataResult, Result
from torchkata.course import Kata


def kept(stored: Result | None, basis: str, katas: Iterable[Kata]) -> dict[str, KataResult]:
    """The katas of a stored result that another grading would end as they ended, by name."""
    if stored is None or stored.basis != basis:
        return {}
    results = {one.kata: one for one in stored.katas if one.status != "inconclusive"}
    return {
        kata.name: results[kata.name]
        for kata in katas
        if kata.name in results and results[kata.name].digest == digest_kata(kata.name)
    }


def done_in(stored: Result | None) -> frozenset[str]:
    """The katas that those which build on them found done."""
    return frozenset(one.kata for one in stored.katas if one.status == "done") if stored else frozenset()


def with_digests(katas: Iterable[KataResult]) -> list[KataResult]:
    """What was graded, each with what the course says of it now."""
    return [replace(one, digest=digest_kata(one.kata)) for one in katas]


def better(stored: Result | None, katas: Sequence[KataResult]) -> list[KataResult]:
    """Of each kata the result with more points: what is stored, where it has the same tests, or the new one."""
    before: Mapping[str, KataResult] = {one.kata: one for one in stored.katas} if stored else {}
    found = []
    for new in katas:
        old = before.get(new.kata, new)
        wins = old.score > new.score and new.status != "inconclusive" and worth(old) == worth(new)
        version = old.kept or (stored.course if stored else "") or "an earlier version"
        found.append(replace(old, digest=new.digest, kept=version) if wins else new)
    return found


def worth(kata: KataResult) -> dict[str, float]:
    """The tests, and the points of each."""
    return {test.name: test.max_score for test in kata.tests}

"""The outcomes of claims about the zoo, and tables of them by kata and by test, including the slowest tests."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from rich import box
from rich.table import Table

from grader.proof.claims import Claim
from grader.proof.diagnoses import Diagnoses
from grader.proof.shares import find_failed
from grader.results.result import KataResult
from torchkata.course import Kata, course

SLOWEST = 5
MARGIN = 10  # a suggested time limit is this many times the duration of the slowest test on correct code


@dataclass
class Judged:
    """A claim with its results, and how the results contradict it (None if the claim holds)."""

    claim: Claim
    katas: Sequence[KataResult]
    problem: str | None


@dataclass
class ZooOutcome:
    """The outcomes of all claims about the zoo."""

    judged: list[Judged] = field(default_factory=list)
    diagnoses: Diagnoses = field(default_factory=Diagnoses)
    known: int = 0  # number of claims taken from stored proofs
    failed: dict[str, dict[str, frozenset[str]]] = field(default_factory=dict)  # tests, by kata and wrong entry

    def add(self, claim: Claim, katas: Sequence[KataResult]) -> bool:
        """Record a claim and return whether it holds."""
        problem = claim.refute(katas)
        self.judged.append(Judged(claim, katas, problem))
        if claim.group == "wrong":
            self.diagnoses.add(claim, katas)
            self.add_failed(claim, katas)
        return problem is None

    def add_failed(self, claim: Claim, katas: Sequence[KataResult] | None) -> None:
        """Record the tests that a wrong entry fails, if all tests of its kata ran."""
        for result in katas or ():
            failed = find_failed(course().katas[result.kata], result)
            if claim.entry is not None and failed is not None:
                self.failed.setdefault(result.kata, {})[claim.entry.name] = failed

    def add_known(self, claim: Claim, katas: Sequence[KataResult] | None) -> bool:
        """Record a claim using its stored results. Return False if there are none or they do not prove the claim."""
        if katas is None or claim.refute(katas) is not None:
            return False
        self.known += 1
        return self.add(claim, katas)

    def list_failed(self) -> list[str]:
        """Return a line for each claim that does not hold."""
        return [
            f"{each.claim.group} {each.claim.kata} {each.claim.name}: {each.problem}"
            for each in self.judged
            if each.problem is not None
        ]

    def select(self, group: str, kata: str) -> list[Judged]:
        """Return the claims in a group that concern a kata."""
        return [each for each in self.judged if each.claim.group == group and each.claim.kata in (kata, "")]

    def select_results(self, group: str, kata: str) -> list[KataResult]:
        """Return the results of a kata for all claims in a group."""
        return [result for each in self.select(group, kata) for result in each.katas if result.kata == kata]

    def count_flakes(self, kata: str) -> tuple[int, int]:
        """Return how many test runs have rejected correct code, and the total number of test runs on correct code."""
        tests = [t for group in ("solution", "right") for r in self.select_results(group, kata) for t in r.tests]
        return sum(test.outcome != "passed" for test in tests), len(tests)

    def count_catches(self, kata: Kata) -> dict[str, tuple[int, int]]:
        """Return, for each test, how many wrong entries it catches, and how many are caught only by this test."""
        caught: Counter[str] = Counter()
        alone: Counter[str] = Counter()
        for result in self.select_results("wrong", kata.name):
            failed = [test.name for test in result.tests if test.outcome != "passed"]
            caught.update(failed)
            alone.update(failed if len(failed) == 1 else [])
        return {name: (caught[name], alone[name]) for name in kata.points}

    def find_slowest(self) -> list[tuple[float, str, str]]:
        """Return (seconds, kata, test) for the slowest tests of correct code."""
        longest: dict[tuple[str, str], float] = {}
        groups = ("solution", "right")
        results = [result for each in self.judged if each.claim.group in groups for result in each.katas]
        for key, seconds in [((result.kata, test.name), test.seconds) for result in results for test in result.tests]:
            longest[key] = max(longest.get(key, 0.0), seconds)
        return sorted(((seconds, *key) for key, seconds in longest.items()), reverse=True)[:SLOWEST]


def tabulate_katas(outcome: ZooOutcome, katas: Sequence[Kata]) -> Table:
    """Return a table with the number of claims that hold, by kata and group."""
    groups = {
        "stub not started": "stubs",
        "solution done": "solution",
        "right accepted": "right",
        "wrong caught": "wrong",
        "others without it": "fallback",
    }
    table = Table("kata", *groups, "flakes", box=box.SIMPLE_HEAD)
    for kata in katas:
        found = [[each.problem is None for each in outcome.select(group, kata.name)] for group in groups.values()]
        table.add_row(
            kata.name,
            *(f"{sum(held)}/{len(held)}" for held in found),
            "{} of {}".format(*outcome.count_flakes(kata.name)),
        )
    return table


def tabulate_catches(outcome: ZooOutcome, katas: Sequence[Kata]) -> Table:
    """Return a table with the number of wrong entries caught by each test."""
    table = Table("test", "catches", "only test", box=box.SIMPLE_HEAD)
    for kata in katas:
        for name, (caught, alone) in outcome.count_catches(kata).items():
            table.add_row(f"{kata.name} · {name}", str(caught), str(alone))
    return table


def tabulate_slowest(outcome: ZooOutcome) -> Table:
    """Return a table of the slowest tests of correct code, including suggested time limits."""
    table = Table("slowest tests of correct code", "seconds", "suggested limit", box=box.SIMPLE_HEAD)
    for seconds, kata, name in outcome.find_slowest():
        table.add_row(f"{kata} · {name}", f"{seconds:.2f}", f"{max(1, round(MARGIN * seconds))} s")
    limits = course().limits
    table.caption = f"current limits: {limits.call_seconds:g} s per call, {limits.kata_seconds:g} s per kata"
    return table

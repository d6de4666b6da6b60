"""The outcome of the claims about the zoo; tables of what was proven by kata, what each test catches, slow tests."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from rich import box
from rich.table import Table

from grader.proof.claims import Claim
from grader.proof.diagnoses import Diagnoses
from grader.results.result import KataResult
from torchkata.course import Kata, course

SLOWEST = 5
MARGIN = 10  # a limit should be so many times what the slowest call of right code takes


@dataclass
class Judged:
    """A claim, the results of its submission, and how they contradict it, if they do."""

    claim: Claim
    katas: Sequence[KataResult]
    problem: str | None


@dataclass
class ZooOutcome:
    """What came of each claim."""

    judged: list[Judged] = field(default_factory=list)
    diagnoses: Diagnoses = field(default_factory=Diagnoses)
    known: int = 0  # claims that were proven before, with the same content

    def add(self, claim: Claim, katas: Sequence[KataResult]) -> bool:
        """Judge one claim, and tell whether it holds."""
        problem = claim.refute(katas)
        self.judged.append(Judged(claim, katas, problem))
        if claim.group == "wrong":
            self.diagnoses.add(claim, katas)
        return problem is None

    def add_known(self, claim: Claim, katas: Sequence[KataResult] | None) -> bool:
        """Count a claim by its earlier results, and tell whether they are known and prove it."""
        if katas is None or claim.refute(katas) is not None:
            return False
        self.known += 1
        return self.add(claim, katas)

    def failed(self) -> list[str]:
        """Return a line for each claim that does not hold."""
        return [
            f"{each.claim.group} {each.claim.kata} {each.claim.name}: {each.problem}"
            for each in self.judged
            if each.problem is not None
        ]

    def select(self, group: str, kata: str) -> list[Judged]:
        """Return the claims of a group that are about a kata."""
        return [each for each in self.judged if each.claim.group == group and each.claim.kata in (kata, "")]

    def kata_results(self, group: str, kata: str) -> list[KataResult]:
        """Return the results of one kata in a group."""
        return [result for each in self.select(group, kata) for result in each.katas if result.kata == kata]

    def flakes(self, kata: str) -> tuple[int, int]:
        """Return how many tests of right code did not pass, and how many ran."""
        tests = [t for group in ("solution", "right") for r in self.kata_results(group, kata) for t in r.tests]
        return sum(test.outcome != "passed" for test in tests), len(tests)

    def catches(self, kata: Kata) -> dict[str, tuple[int, int]]:
        """Return for each test how many wrong entries it catches, and how many only it catches."""
        caught: Counter[str] = Counter()
        alone: Counter[str] = Counter()
        for result in self.kata_results("wrong", kata.name):
            failed = [test.name for test in result.tests if test.outcome != "passed"]
            caught.update(failed)
            alone.update(failed if len(failed) == 1 else [])
        return {name: (caught[name], alone[name]) for name in kata.points}

    def slowest(self) -> list[tuple[float, str, str]]:
        """Return the slowest tests of the solution: seconds, kata, test."""
        longest: dict[tuple[str, str], float] = {}
        results = [result for each in self.judged if each.claim.group == "solution" for result in each.katas]
        for key, seconds in [((result.kata, test.name), test.seconds) for result in results for test in result.tests]:
            longest[key] = max(longest.get(key, 0.0), seconds)
        return sorted(((seconds, *key) for key, seconds in longest.items()), reverse=True)[:SLOWEST]


def kata_table(outcome: ZooOutcome, katas: Sequence[Kata]) -> Table:
    """Return a table of the claims that hold, by kata."""
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
            kata.name, *(f"{sum(held)}/{len(held)}" for held in found), "{} of {}".format(*outcome.flakes(kata.name))
        )
    return table


def catch_table(outcome: ZooOutcome, katas: Sequence[Kata]) -> Table:
    """Return a table of how many wrong entries each test catches, and how many nothing else catches."""
    table = Table("test", "catches", "alone", box=box.SIMPLE_HEAD)
    for kata in katas:
        for name, (caught, alone) in outcome.catches(kata).items():
            table.add_row(f"{kata.name} · {name}", str(caught), str(alone))
    return table


def slow_table(outcome: ZooOutcome) -> Table:
    """Return a table of the slowest tests of the solution, and of the limits that they suggest."""
    table = Table("slowest tests of the solution", "seconds", "suggested limit", box=box.SIMPLE_HEAD)
    for seconds, kata, name in outcome.slowest():
        table.add_row(f"{kata} · {name}", f"{seconds:.2f}", f"{max(1, round(MARGIN * seconds))} s")
    limits = course().limits
    table.caption = f"limits in force: {limits.call_seconds:g} s a call, {limits.kata_seconds:g} s a kata"
    return table

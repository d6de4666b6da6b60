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
class ZooOutcome:
    """What came of each claim."""

    results: list[tuple[Claim, Sequence[KataResult]]] = field(default_factory=list)
    failed: list[tuple[Claim, str]] = field(default_factory=list)
    diagnoses: Diagnoses = field(default_factory=Diagnoses)
    known: int = 0  # claims that were proven before, with the same content

    def add(self, claim: Claim, katas: Sequence[KataResult]) -> bool:
        """Judge one claim: whether it holds."""
        problem = claim.refute(katas)
        self.results.append((claim, katas))
        if claim.group == "wrong":
            self.diagnoses.add(claim, katas)
        if problem is not None:
            self.failed.append((claim, problem))
        return problem is None

    def add_known(self, claim: Claim, katas: Sequence[KataResult] | None) -> bool:
        """Count a claim by what it came to before: whether that is known, and proves it."""
        if katas is None or claim.refute(katas) is not None:
            return False
        self.known += 1
        return self.add(claim, katas)

    def held(self, group: str, kata: str) -> tuple[int, int]:
        """How many claims of a group held for a kata, and how many there were."""
        those = [claim for claim, _ in self.results if claim.group == group and claim.kata in (kata, "")]
        return len(those) - sum(claim in those for claim, _ in self.failed), len(those)

    def kata_results(self, group: str, kata: str) -> list[KataResult]:
        """The results of one kata in a group."""
        return [
            r
            for claim, katas in self.results
            if claim.group == group and claim.kata in (kata, "")
            for r in katas
            if r.kata == kata
        ]

    def flakes(self, kata: str) -> tuple[int, int]:
        """How many tests of right code did not pass, and how many ran."""
        tests = [t for group in ("solution", "right") for r in self.kata_results(group, kata) for t in r.tests]
        return sum(test.outcome != "passed" for test in tests), len(tests)

    def catches(self, kata: Kata) -> dict[str, tuple[int, int]]:
        """For each test: how many wrong ones it catches, and how many only it catches."""
        caught: Counter[str] = Counter()
        alone: Counter[str] = Counter()
        for result in self.kata_results("wrong", kata.name):
            failed = [test.name for test in result.tests if test.outcome != "passed"]
            caught.update(failed)
            alone.update(failed if len(failed) == 1 else [])
        return {name: (caught[name], alone[name]) for name in kata.points}

    def slowest(self) -> list[tuple[float, str, str]]:
        """The slowest tests of the solution: seconds, kata, test."""
        longest: dict[tuple[str, str], float] = {}
        for claim, katas in self.results:
            if claim.group == "solution":
                for result in katas:
                    for test in result.tests:
                        key = (result.kata, test.name)
                        longest[key] = max(longest.get(key, 0.0), test.seconds)
        return sorted(((seconds, *key) for key, seconds in longest.items()), reverse=True)[:SLOWEST]


def kata_table(outcome: ZooOutcome, katas: Sequence[Kata]) -> Table:
    """By kata: which claims hold."""
    groups = {
        "stub not started": "stubs",
        "solution done": "solution",
        "right accepted": "right",
        "wrong caught": "wrong",
        "others without it": "fallback",
    }
    table = Table("kata", *groups, "flakes", box=box.SIMPLE_HEAD)
    for kata in katas:
        held = ["{}/{}".format(*outcome.held(group, kata.name)) for group in groups.values()]
        table.add_row(kata.name, *held, "{} of {}".format(*outcome.flakes(kata.name)))
    return table


def catch_table(outcome: ZooOutcome, katas: Sequence[Kata]) -> Table:
    """By test: how many of the wrong ones it catches, and how many nothing else catches."""
    table = Table("test", "catches", "alone", box=box.SIMPLE_HEAD)
    for kata in katas:
        for name, (caught, alone) in outcome.catches(kata).items():
            table.add_row(f"{kata.name} · {name}", str(caught), str(alone))
    return table


def slow_table(outcome: ZooOutcome) -> Table:
    """The slowest tests of the solution, and what limits they suggest."""
    table = Table("slowest tests of the solution", "seconds", "suggested limit", box=box.SIMPLE_HEAD)
    for seconds, kata, name in outcome.slowest():
        table.add_row(f"{kata} · {name}", f"{seconds:.2f}", f"{max(1, round(MARGIN * seconds))} s")
    limits = course().limits
    table.caption = f"limits in force: {limits.call_seconds:g} s a call, {limits.kata_seconds:g} s a kata"
    return table

"""Statistics on diagnoses. A diagnosis or a test's note must name most of the mistakes in the numeric katas."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from rich import box
from rich.table import Table

from grader.proof.claims import Claim, collect_diagnoses
from grader.results.result import KataResult
from torchkata.course import Kata, course

MIN_NAMED = 0.7  # minimum fraction of named mistakes in the numeric katas of the core track and of all tracks

Judgement: TypeAlias = Literal[
    "right diagnosis", "named by the test", "no diagnosis", "wrong diagnosis", "unexpected diagnosis"
]
NAMED: tuple[Judgement, ...] = ("right diagnosis", "named by the test")


def judge_diagnosis(claim: Claim, results: Sequence[KataResult]) -> Judgement:
    """Return how the diagnosis of a wrong entry compares with its `looks_like` in the zoo."""
    found = collect_diagnoses(results)
    if not found:
        seen = any(test.diagnosis for result in results for test in result.tests)
        return "named by the test" if seen or (claim.entry and claim.entry.note) else "no diagnosis"
    looks_like = claim.entry.looks_like if claim.entry else frozenset()
    if not looks_like:
        return "unexpected diagnosis"
    return "wrong diagnosis" if found - looks_like else "right diagnosis"


@dataclass
class Diagnoses:
    """The number of judgements of each kind, by kata."""

    counts: dict[str, Counter[Judgement]] = field(default_factory=dict)
    unforeseen: list[str] = field(default_factory=list)

    def add(self, claim: Claim, results: Sequence[KataResult]) -> None:
        """Count the judgement of a wrong entry."""
        judgement = judge_diagnosis(claim, results)
        self.counts.setdefault(claim.kata, Counter())[judgement] += 1
        if judgement == "unexpected diagnosis":
            found = "; ".join(sorted(collect_diagnoses(results)))
            self.unforeseen.append(f"wrong {claim.kata} {claim.name} has no looks_like, but is diagnosed as: {found}")

    def sum_counts(self, katas: Sequence[Kata]) -> Counter[Judgement]:
        """Return the total counts of these katas."""
        return sum((self.counts.get(kata.name, Counter()) for kata in katas), Counter())

    def find_failed(self, katas: Sequence[Kata]) -> list[str]:
        """Return a line for each group of katas (the core track, all tracks) in which too few mistakes are named.

        A group of katas is checked only if all of its katas were proven.
        """
        every = select_numeric(course().katas.values())
        core = [kata for kata in every if kata.track == "core"]
        lines = []
        for name, group in {"the core track": core, "all tracks": every}.items():
            total = self.sum_counts(group)
            named = sum(total[judgement] for judgement in NAMED)
            if all(kata in katas for kata in group) and named < MIN_NAMED * total.total():
                lines.append(
                    f"diagnosis: the mistake is named for {named} of {total.total()} wrong entries of {name}, "
                    f"expected {MIN_NAMED:.0%}"
                )
        return lines

    def tabulate(self, katas: Sequence[Kata]) -> Table:
        """Return a table by kata. The last row is the total of the numeric katas."""
        table = Table("diagnosis", "wrong entries", *get_args(Judgement), box=box.SIMPLE_HEAD)
        rows = [(kata.name, self.sum_counts([kata])) for kata in katas]
        for name, total in [*rows, ("numeric katas together", self.sum_counts(select_numeric(katas)))]:
            table.add_row(name, str(total.total()), *(str(total[judgement]) for judgement in get_args(Judgement)))
        return table


def select_numeric(katas: Iterable[Kata]) -> list[Kata]:
    """Return the katas whose answers are numbers computed by the oracle."""
    return [kata for kata in katas if kata.numeric]

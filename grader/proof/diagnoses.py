"""Statistics on diagnoses: how many wrong entries are named by a diagnosis or by the note of a test."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from rich import box
from rich.table import Table

from grader.proof.claims import Claim, collect_diagnoses
from grader.results.result import KataResult
from torchkata.course import Kata

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

    def tabulate(self, katas: Sequence[Kata]) -> Table:
        """Return a table by kata. The last row is the total."""
        table = Table("diagnosis", "wrong entries", "named", *get_args(Judgement), box=box.SIMPLE_HEAD)
        rows = {kata.name: self.counts.get(kata.name, Counter[Judgement]()) for kata in katas}
        for name, found in [*rows.items(), ("all", sum(rows.values(), Counter[Judgement]()))]:
            named = sum(found[judgement] for judgement in NAMED)
            share = f"{named / found.total():.0%}" if found else ""
            table.add_row(
                name, str(found.total()), share, *(str(found[judgement]) for judgement in get_args(Judgement))
            )
        return table

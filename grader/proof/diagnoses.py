"""Whether a failure names what is wrong, by diagnosis or by note: most of the zoo's mistakes in numeric katas."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from rich import box
from rich.table import Table

from grader.proof.claims import Claim
from grader.proof.claims import diagnoses as diagnoses_of
from grader.results.result import KataResult
from torchkata.course import Kata, course

ASKED = 0.7  # of the wrong entries of the numeric katas: those of the core track, and all of them

Judgement: TypeAlias = Literal["diagnosed rightly", "noted by the test", "silent", "diagnosed wrongly", "not foreseen"]
NAMED: tuple[Judgement, ...] = ("diagnosed rightly", "noted by the test")


def judgement(claim: Claim, results: Sequence[KataResult]) -> Judgement:
    """What the diagnosis made of a wrong implementation; without `looks_like` in the zoo, any is not foreseen."""
    found = diagnoses_of(results)
    if not found:
        seen = any(test.diagnosis for result in results for test in result.tests)
        return "noted by the test" if seen or (claim.entry and claim.entry.note) else "silent"
    looks_like = claim.entry.looks_like if claim.entry else frozenset()
    if not looks_like:
        return "not foreseen"
    return "diagnosed rightly" if found <= looks_like else "diagnosed wrongly"


@dataclass
class Diagnoses:
    """How often each judgement was made of a kata's wrong entries."""

    counts: dict[str, Counter[Judgement]] = field(default_factory=dict)
    unforeseen: list[str] = field(default_factory=list)

    def add(self, claim: Claim, results: Sequence[KataResult]) -> None:
        """Count one wrong implementation."""
        made = judgement(claim, results)
        self.counts.setdefault(claim.kata, Counter())[made] += 1
        if made == "not foreseen":
            said = "; ".join(sorted(diagnoses_of(results)))
            self.unforeseen.append(f"wrong {claim.kata} {claim.name}, without looks_like, looks like: {said}")

    def total(self, katas: Sequence[Kata]) -> Counter[Judgement]:
        """The counts of these katas together."""
        return sum((self.counts.get(kata.name, Counter()) for kata in katas), Counter())

    def failed(self, katas: Sequence[Kata]) -> list[str]:
        """A line where too few are named: in the core track, and in all tracks, once all their katas are proven."""
        every = numeric(course().katas.values())
        core = [kata for kata in every if kata.track == "core"]
        lines = []
        for name, asked in {"the core track": core, "all tracks": every}.items():
            total = self.total(asked)
            named = sum(total[made] for made in NAMED)
            if all(kata in katas for kata in asked) and named < ASKED * total.total():
                lines.append(
                    f"diagnosis: {named} of {total.total()} wrong entries of {name} are named, not {ASKED:.0%}"
                )
        return lines

    def table(self, katas: Sequence[Kata]) -> Table:
        """By kata, and the numeric ones together."""
        table = Table("diagnosis", "wrong entries", *get_args(Judgement), box=box.SIMPLE_HEAD)
        rows = [(kata.name, self.total([kata])) for kata in katas]
        for name, total in [*rows, ("numeric katas together", self.total(numeric(katas)))]:
            table.add_row(name, str(total.total()), *(str(total[made]) for made in get_args(Judgement)))
        return table


def numeric(katas: Iterable[Kata]) -> list[Kata]:
    """Those whose answers are numbers that the oracle computes."""
    return [kata for kata in katas if kata.numeric]

"""Whether the diagnosis names what is wrong: a mistake of the zoo as what it is, and most of those in numeric katas."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from rich import box
from rich.table import Table

from grader.certify.claims import Claim
from grader.certify.claims import diagnoses as diagnoses_of
from grader.result import KataResult
from kata.catalog import Kata, catalog

ASKED = {"core": 0.7}  # of the wrong entries of numeric katas, by track
ASKED_ELSEWHERE = 0.2  # where fewer mistakes have a sentence so far

Judgement: TypeAlias = Literal["diagnosed rightly", "silent", "diagnosed wrongly", "not foreseen"]


def judgement(claim: Claim, results: Sequence[KataResult]) -> Judgement:
    """What the diagnosis made of a wrong implementation; without `looks_like` in the zoo, any is not foreseen."""
    found = diagnoses_of(results)
    if not found:
        return "silent"
    if not claim.looks_like:
        return "not foreseen"
    return "diagnosed rightly" if found <= claim.looks_like else "diagnosed wrongly"


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

    def refuted(self, katas: Sequence[Kata]) -> list[str]:
        """A line for each track that is proven as a whole, and has too few diagnoses in its numeric katas."""
        whole = numeric(whole_tracks(katas))
        lines = []
        for track in dict.fromkeys(kata.track for kata in whole):
            total = self.total([kata for kata in whole if kata.track == track])
            entries, rightly, asked = total.total(), total["diagnosed rightly"], ASKED.get(track, ASKED_ELSEWHERE)
            if rightly < asked * entries:
                lines.append(
                    f"diagnosis: {rightly} of {entries} wrong entries of track {track} are named, not {asked:.0%}"
                )
        return lines

    def table(self, katas: Sequence[Kata]) -> Table:
        """By kata, and the numeric ones together."""
        table = Table("diagnosis", "wrong entries", *get_args(Judgement), box=box.SIMPLE_HEAD)
        rows = [(kata.name, self.total([kata])) for kata in katas]
        for name, total in [*rows, ("numeric katas together", self.total(numeric(katas)))]:
            table.add_row(name, str(total.total()), *(str(total[made]) for made in get_args(Judgement)))
        return table


def whole_tracks(katas: Sequence[Kata]) -> list[Kata]:
    """Those whose whole track is among them."""
    cut = {kata.track for kata in catalog().katas.values() if kata not in katas}
    return [kata for kata in katas if kata.track not in cut]


def numeric(katas: Sequence[Kata]) -> list[Kata]:
    """Those whose answers are numbers that the oracle computes."""
    return [kata for kata in katas if kata.numeric]

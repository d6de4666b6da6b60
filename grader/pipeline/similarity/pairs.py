"""Which two hand-ins of a class are more alike than others, kata by kata and in all.

Two sources are as alike as the share of their runs of tokens that both have, where a run counts the more the fewer of
the class have it (the weighted Jaccard index); what is the stub's doesn't count. How telling that is, the class itself
says: pairs are ranked by how alike they are times how rare that is which both have, and in a kata, a pair weighs
log2(pairs / pairs of that rank or above) bits. So the same code weighs little where many have it, a strange function no
more than the strangest of the class, and a hand-in's katas add up. Sums are of whole numbers, or in one order: a class
gives one list.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from grader.pipeline.similarity.grams import Gram, grams_of

UNITS = 1000  # of what a run counts
COLUMNS = 4096  # runs that are multiplied at once
FEWEST = 10  # hand-ins, of which can be said what is common among them
SAME = 0.05  # of all pairs: where more have the same code, having the same says nothing

Runs: TypeAlias = NDArray[np.int64]
Matrix: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class Alike:
    """How alike two sources of a kata are, from 0 to 1, and how telling that is in this class."""

    kata: str
    share: float
    bits: float


@dataclass(frozen=True)
class Pair:
    """Two hand-ins, and how alike they are by kata, the most telling first."""

    first: str
    second: str
    bits: float
    katas: list[Alike]


@dataclass(frozen=True)
class Comparison:
    """A class, compared."""

    pairs: list[Pair]  # the heaviest first
    katas: list["Compared"]
    typical: float  # half of the class are in no heavier pair


@dataclass
class Compared:
    """A kata: the runs of each hand-in that are not the stub's, and how many hand-ins have each."""

    kata: str
    index: dict[Gram, int] = field(default_factory=dict)
    runs: dict[str, Runs] = field(default_factory=dict)
    counts: Runs = field(default_factory=lambda: np.zeros(0, np.int64))
    unparsed: list[str] = field(default_factory=list)  # hand-ins that are no Python

    @property
    def same(self) -> float:
        """The share of all pairs that have the same code, but for names and layout."""
        alike: dict[bytes, int] = {}
        for runs in self.runs.values():
            alike[runs.tobytes()] = alike.get(runs.tobytes(), 0) + 1
        count = len(self.runs)
        return sum(one * (one - 1) for one in alike.values()) / (count * (count - 1)) if count > 1 else 0.0

    @property
    def length(self) -> float:
        """How many runs a hand-in has, the median."""
        return median(len(runs) for runs in self.runs.values()) if self.runs else 0.0

    @property
    def too_short(self) -> bool:
        """Whether there is so little to write that people who know nothing of each other write the same."""
        return len(self.runs) >= FEWEST and self.same > SAME

    @property
    def weights(self) -> Runs:
        """What each run counts."""
        rarity: Matrix = np.log2((len(self.runs) + 1) / np.maximum(self.counts, 1))
        return np.rint(UNITS * rarity).astype(np.int64)


def compared(kata: str, stub: bytes, sources: Mapping[str, bytes]) -> Compared:
    """What each submission has written of a kata."""
    found = Compared(kata)
    given = grams_of(stub)
    for submission, source in sources.items():
        try:
            own = [gram for gram in grams_of(source) if gram not in given]
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            found.unparsed.append(submission)
            continue
        if own:
            found.runs[submission] = np.array(sorted(place(gram, found.index) for gram in own))
    found.counts = np.bincount(
        np.concatenate([*found.runs.values(), np.zeros(0, np.int64)]), minlength=len(found.index)
    )
    return found


def place(gram: Gram, index: dict[Gram, int]) -> int:
    """Its number; the next one for a gram that is new."""
    return index.setdefault(gram, len(index))


def compare(katas: Sequence[Compared], submissions: Sequence[str], most: int) -> Comparison:
    """The heaviest pairs of a class, at most so many."""
    upper = np.triu_indices(len(submissions), 1)
    alike: dict[str, Matrix] = {}
    weights: dict[str, Matrix] = {}
    for kata in katas:
        share, rarity = likeness(kata, submissions)
        alike[kata.kata], weights[kata.kata] = share[upper], bits((share * rarity)[upper])
    total = sum(weights.values(), np.zeros(len(upper[0])))
    found = []
    for number in np.argsort(-total, kind="stable")[:most]:
        by_kata = [
            Alike(name, float(alike[name][number]), float(weights[name][number]))
            for name in sorted(weights, key=lambda name: -weights[name][number])
            if weights[name][number] > 0
        ]
        first, second = (submissions[side[number]] for side in upper)
        if by_kata:
            found.append(Pair(first, second, float(total[number]), by_kata))
    nearest = np.zeros(len(submissions))
    for side in upper:
        np.maximum.at(nearest, side, total)
    return Comparison(found, list(katas), float(np.median(nearest)) if len(nearest) else 0.0)


def likeness(kata: Compared, submissions: Sequence[str]) -> tuple[Matrix, Matrix]:
    """How alike each two submissions are in one kata, from 0 to 1, and how rare that is which both have."""
    places = {submission: place for place, submission in enumerate(submissions)}
    weights = kata.weights
    both = np.zeros((len(submissions), len(submissions)))
    for start in range(0, len(weights), COLUMNS):
        block = weights[start : start + COLUMNS]
        has = np.zeros((len(submissions), len(block)))
        for submission, runs in kata.runs.items():
            has[places[submission], runs[(runs >= start) & (runs < start + COLUMNS)] - start] = 1
        both += (has * block) @ has.T
    own = both.diagonal()
    either = own[:, None] + own[None, :] - both
    return np.divide(both, either, out=np.zeros_like(both), where=either > 0), both


def bits(ranks: Matrix) -> Matrix:
    """What each pair weighs among all pairs."""
    at_least = len(ranks) - np.searchsorted(np.sort(ranks), ranks, side="left")
    return np.where(ranks > 0, np.log2((len(ranks) + 1) / np.maximum(at_least, 1)), 0.0)

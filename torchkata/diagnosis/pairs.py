"""Chooses pairs of known mistakes that may together explain a student's answers if no single mistake does."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import combinations, permutations
from typing import TypeAlias

from torchkata.compare.assertions import same, watcher
from torchkata.seam.values import Plain

from .mistakes import BOTH, KnownMistake, Mistake

Mistakes: TypeAlias = tuple[KnownMistake, ...]  # one or two


@dataclass(frozen=True)
class Trace:
    """A run of a test's body on one example, possibly with mistakes patched into the oracle."""

    expected: Sequence[Plain]  # the expected values of its comparisons
    lines: Sequence[int]  # line numbers in the traceback of its exception; empty if it passed

    def equals(self, other: "Trace") -> bool:
        """Return whether both runs expected the same values and ended at the same place."""
        return self.lines == other.lines and same([*self.expected], [*other.expected])

    def differs(self, other: "Trace") -> bool:
        """Return whether the two runs expected different values in one of the comparisons that both made."""
        shared = min(len(self.expected), len(other.expected))
        return not same([*self.expected[:shared]], [*other.expected[:shared]])

    def goes_beyond(self, other: "Trace") -> bool:
        """Return whether this run passed, or failed at a later comparison than the other run."""
        return not self.lines or len(self.expected) > len(other.expected)


@contextmanager
def collect_expected() -> Iterator[list[Plain]]:
    """Collect the expected values of all comparisons in this context."""
    found: list[Plain] = []
    before = watcher.set(lambda _yours, expected, _what, _right: found.append(expected))
    try:
        yield found
    finally:
        watcher.reset(before)


def choose_pairs(traces: Mapping[KnownMistake, Trace], right: Trace, named: Sequence[str]) -> Iterator[Mistakes]:
    """Yield pairs of mistakes, most likely first, based on a run with each mistake and a run without any (`right`).

    A mistake is paired with all others if it explains the first wrong value or was `named` by another test. Any other
    two mistakes are paired only if each of them changes an expected value before or at the first wrong answer.
    """
    known = sorted(traces, key=lambda mistake: mistake.message not in named)
    ahead = [one for one in known if one.message in named or traces[one].goes_beyond(right)]
    rest = [one for one in known if one not in ahead]
    changing = [one for one in rest if not (right.expected and traces[one].equals(right))]
    for first, second in [*combinations(ahead, 2), *((a, b) for a in ahead for b in rest), *combinations(changing, 2)]:
        functions = [{part.right for part in one.parts} for one in (first, second)]
        if not same_family(first.parts[0], second.parts[0]):
            yield from permutations((first, second), 2) if functions[0] & functions[1] else [(first, second)]


def same_family(first: Mistake, second: Mistake) -> bool:
    """Return whether two mistakes differ only in the value of a constant."""
    functions = [one.mistaken.func if isinstance(one.mistaken, partial) else one.mistaken for one in (first, second)]
    return functions[0] is functions[1]


def join_messages(mistakes: Mistakes, known: Sequence[KnownMistake]) -> str:
    """Return the messages of one or two mistakes as one message, in the order of the known mistakes."""
    return BOTH.join(one.message for one in sorted(mistakes, key=known.index))


def split_pairs(messages: Sequence[str], known: Sequence[KnownMistake]) -> list[Mistakes]:
    """Return the pairs of mistakes that these messages name, ignoring messages that name only one mistake."""
    by_message = {mistake.message: mistake for mistake in known}
    parts = [message.split(BOTH) for message in dict.fromkeys(messages)]
    return [tuple(by_message[one] for one in pair) for pair in parts if len(pair) > 1 and by_message.keys() >= {*pair}]

"""Runs the body of a failed test again on the recorded answers, to find a pattern in all of its comparisons."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from torchkata.compare.assertions import watcher
from torchkata.compare.equality import same
from torchkata.inside.text import Message
from torchkata.inside.values import Plain

from .facts import find_common_fact
from .recording import Example, ReplayingStudent, count_bytes
from .relations import Comparison, Relation, find_first_wrong, find_relation

MAX_BYTES = 2**19  # maximum total size of the answers; a formula may need 16 times as much memory


@dataclass
class Trial:
    """The calls and comparisons that a test's body makes for one example."""

    given: list[Mapping[str, Plain]] = field(default_factory=list)  # the inputs of each call
    compared: list[tuple[Message, Comparison]] = field(default_factory=list)  # with the name of each comparison
    wrong: Message | None = None  # the name of the comparison that failed
    right: bool = False

    def list_compared(self, name: Message | None) -> list[tuple[Comparison, bool]]:
        """Return the comparisons with this name, and whether each one succeeded. Only the last one can have failed."""
        last = len(self.compared) - 1 if self.wrong is not None else None
        return [(each, i != last) for i, (what, each) in enumerate(self.compared) if strip_number(what) == name]


def find_pattern(body: Callable[..., None], examples: Iterable[Example]) -> Relation:
    """Return a pattern that holds for all answers to a failed test, or an empty one if no pattern does."""
    trials = [run_trial(body, example) for example in examples]
    failed = [trial for trial in trials if not trial.right]
    name = next((strip_number(trial.wrong) for trial in failed if trial.wrong is not None), None)
    compared = [one for trial in trials for one in trial.list_compared(name)]
    found = find_relation([each for each, _ in compared], name or "")
    if found.sentence:
        return found
    shared = [find_shared_inputs(trial.given) for trial in trials]
    names = set(shared[0]).intersection(*shared) if shared else set()
    inputs = [
        ({name: given[name] for name in given if name in names}, trial.right)
        for given, trial in zip(shared, trials, strict=True)
    ]
    fact = find_common_fact(inputs) if names else ""
    fact = fact or find_common_fact([({"expected": one.expected}, is_right) for one, is_right in compared])
    return Relation(fact or find_first_wrong([[what for what, _ in t.compared] if t.wrong else [] for t in failed]))


def find_shared_inputs(calls: Sequence[Mapping[str, Plain]]) -> dict[str, Plain]:
    """Return the inputs that are the same in all calls. For a single call, these are all of its inputs."""
    first, *others = calls or [{}]
    return {
        name: value
        for name, value in first.items()
        if all(name in other and same(value, other[name]) for other in others)
    }


def run_trial(body: Callable[..., None], example: Example) -> Trial:
    """Run the body on the recorded answers of an example, and record its comparisons."""
    student, trial = ReplayingStudent(example), Trial()

    def watch(yours: Plain, expected: Plain, what: Message, right: bool) -> None:
        trial.compared.append((what, Comparison(yours, expected, student.calls[-1].own_inputs())))
        trial.wrong = None if right else what

    before = watcher.set(watch)
    try:
        body(**example.given, student=student)
        trial.right = True
    except AssertionError:
        pass
    finally:
        watcher.reset(before)
    trial.given = [call.own_inputs() for call in student.calls]
    return trial


def strip_number(what: Message) -> Message:
    """Truncate the name of a comparison at its first number, so that all parameters and steps share the same name."""
    stripped = re.split(r"[\d(\[]", str(what), maxsplit=1)[0]
    return what if stripped == str(what) else stripped


def limit_examples(examples: Sequence[Example]) -> list[Example]:
    """Return as many of the first examples as possible while their answers take at most `MAX_BYTES` in total."""
    sizes = accumulate(count_bytes(example.answers) for example in examples)
    return [example for example, size in zip(examples, sizes, strict=True) if size <= MAX_BYTES]

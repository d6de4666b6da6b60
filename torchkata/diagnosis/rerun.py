"""Runs the body of a failed test once more on the answers that were kept, and watches what it compares."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from torchkata.compare.assertions import watcher
from torchkata.seam.values import Plain

from .facts import find_common_fact
from .recording import Example, ReplayingStudent, count_bytes
from .relations import Comparison, Relation, find_first_wrong, find_relation

SHAPES = ("shape", "state_dict")  # how a test names what it compares, where that is a shape or a dict of shapes
MAX_BYTES = 2**19  # bytes of answers, of which a formula may make 16 times as many


@dataclass
class Trial:
    """What a test's body asked and compared on one example, each comparison with what it is about."""

    given: list[Mapping[str, Plain]] = field(default_factory=list)
    compared: list[tuple[str, Comparison]] = field(default_factory=list)
    wrong: str | None = None  # what the comparison was about that failed
    right: bool = False


def find_pattern(body: Callable[..., None], examples: Iterable[Example]) -> Relation:
    """What holds in all answers to a failed test."""
    trials = [run_trial(body, example) for example in examples]
    failed = [trial for trial in trials if not trial.right]
    about = strip_number(failed[0].wrong) if failed and failed[0].wrong is not None else None
    seen = [one for trial in trials for what, one in trial.compared if strip_number(what) == about]
    asked = [(trial.given[0], trial.right) for trial in trials if len(trial.given) == 1]
    parts = [[what for what, _ in trial.compared] if trial.wrong else [] for trial in failed]
    found = find_relation(seen, of_shapes=about is not None and about.startswith(SHAPES))
    if found.sentence:
        return found
    return Relation((find_common_fact(asked) if len(asked) == len(trials) else "") or find_first_wrong(parts))


def run_trial(body: Callable[..., None], example: Example) -> Trial:
    """Run the body once more on an example, and watch."""
    student, trial = ReplayingStudent(example.answers), Trial()

    def watch(yours: Plain, expected: Plain, what: str, right: bool) -> None:
        trial.compared.append((what, Comparison(yours, expected, student.calls[-1].inputs())))
        trial.wrong = None if right else what

    before = watcher.set(watch)
    try:
        body(**example.given, student=student)
        trial.right = True
    except AssertionError:
        pass
    finally:
        watcher.reset(before)
    trial.given = [call.inputs() for call in student.calls]
    return trial


def strip_number(what: str) -> str:
    """What is compared, without its number: all parameters are one part of an answer, and so are all steps."""
    return re.split(r"[\d(\[]", what, maxsplit=1)[0]


def limit_examples(examples: Sequence[Example]) -> list[Example]:
    """As many as fill neither memory nor time when they are computed with."""
    sizes = accumulate(count_bytes(example.answers) for example in examples)
    return [example for example, size in zip(examples, sizes, strict=True) if size <= MAX_BYTES]

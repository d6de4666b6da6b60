"""Lists the tests that are waived or could not be graded: a line for each cause, not for each submission."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

from grader.base.errors import CallError
from grader.base.text import count, list_names
from grader.results.result import Result
from torchkata.result import BROKEN, Outcome

FaultKind: TypeAlias = Literal["waived", "broken", "unsettled"]


class Fault(NamedTuple):
    """A test or workload that says nothing about a submission."""

    kind: FaultKind  # waived: everybody gets the points; broken: fails for any code; unsettled: to be graded again
    test: str  # such as linear.test_shape


def list_faults(result: Result) -> Iterator[Fault]:
    """Yield the faults of a result. A workload without a result has no effect on points, but is graded again, too."""
    for kata in result.katas:
        for test in kata.tests:
            if kind := classify(test.outcome, test.cause):
                yield Fault(kind, f"{kata.kata}.{test.name}")
    for row in result.performance:
        if kind := classify(row.outcome):
            yield Fault(kind, row.workload)


def classify(outcome: Outcome, cause: str = "") -> FaultKind | None:
    """Return the kind of fault that an outcome stands for, or None if the test says something about the code."""
    if outcome == "inconclusive":
        return "broken" if cause.startswith(BROKEN) else "unsettled"
    return "waived" if outcome == "waived" else None


def describe_waived(faults: Mapping[str, Sequence[Fault]]) -> list[str]:
    """Return a line for each waived test. `faults` is keyed by submission."""
    return [
        f"{test} is waived: {count(len(names), 'submission')} {'gets' if len(names) == 1 else 'get'} its full points"
        for test, names in group(faults, "waived").items()
    ]


def describe_open(faults: Mapping[str, Sequence[Fault]]) -> list[str]:
    """Return a line for each broken test that is not waived, and one for all submissions to grade again."""
    lines = [
        f"{test} is broken for {count(len(names), 'submission')}: fix it, or waive it in waive.toml"
        for test, names in group(faults, "broken").items()
    ]
    unsettled = group(faults, "unsettled")
    if names := sorted({name for each in unsettled.values() for name in each}):
        lines.append(
            f"{count(len(names), 'submission')} could not be graded because the machine was too slow or failed "
            f"({list_names(list(unsettled))}); run the same `grader grade` command again: {list_names(names)}"
        )
    return lines


def group(faults: Mapping[str, Sequence[Fault]], kind: FaultKind) -> dict[str, list[str]]:
    """Return the submissions with a fault of this kind, keyed by test."""
    found: dict[str, list[str]] = {}
    for submission, each in faults.items():
        for fault in each:
            if fault.kind == kind:
                found.setdefault(fault.test, []).append(submission)
    return found


def demand_settled(faults: Mapping[str, Sequence[Fault]], *, accept: bool) -> None:
    """Raise CallError if a test could not be graded, unless the instructor accepts that it earns no points."""
    if not accept and (lines := describe_open(faults)):
        raise CallError(f"{'; '.join(lines)}; or use --accept-inconclusive")

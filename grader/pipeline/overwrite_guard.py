"""What a call would take away from the results that are stored: none is lost unless `--force` says so."""

from collections.abc import Iterator, Sequence

from grader.base.errors import CallError
from grader.pipeline.queue import GradingOptions, Options
from grader.pipeline.submission_ids import Entry
from grader.results import result
from grader.results.result import Result
from torchkata.course import course


def demand_no_loss(entries: Sequence[Entry], options: Options) -> None:
    """Raises CallError where a stored result would give way to one that has less, or comes of another seed."""
    losses: dict[str, list[str]] = {}
    for entry in entries:
        stored = result.load(options.out / entry.id / "result.json")
        if stored is not None and stored.katas and (lost := list(lost_of(stored, options.grading))):
            losses[entry.id] = lost
    if losses:
        name, lost = next(iter(losses.items()))
        others = f" and {len(losses) - 1} more" if len(losses) > 1 else ""
        raise CallError(
            f"--out {options.out}: this would replace what is stored of {name}{others}, and lose {', '.join(lost)}; "
            "take another DIR, or --force"
        )


def lost_of(stored: Result, asked: GradingOptions) -> Iterator[str]:
    """What a stored result has, and a new one would not have."""
    for kata in stored.katas:
        if kata.status != "not_graded" and kata.kata in course().katas and kata.kata not in asked.katas:
            yield kata.kata
    if stored.seed != asked.seed:
        yield f"seed {stored.seed}"
    if stored.examples > asked.examples:
        yield f"{stored.examples} examples"
    if stored.isolation == "bwrap" and asked.isolation == "none":
        yield "isolation bwrap"
    if stored.device != asked.device and any(row.counts for row in stored.performance):
        yield f"speed on {stored.device}"

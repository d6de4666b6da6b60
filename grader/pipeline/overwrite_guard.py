"""Rejects commands that would overwrite stored results with less complete ones, unless `--force` is given."""

from collections.abc import Iterator, Sequence

from grader.base.errors import CallError
from grader.pipeline.queue import GradingOptions, Options
from grader.pipeline.submission_ids import Entry
from grader.results import result
from grader.results.result import Result
from torchkata.course import course


def demand_no_loss(entries: Sequence[Entry], options: Options) -> None:
    """Raise CallError if a new result would contain less than the stored one or would use a different seed."""
    losses: dict[str, list[str]] = {}
    for entry in entries:
        stored = result.load(options.out / entry.id / "result.json")
        if stored is not None and stored.katas and (lost := list(list_losses(stored, options.grading))):
            losses[entry.id] = lost
    if losses:
        name, lost = next(iter(losses.items()))
        others = f" and {len(losses) - 1} more" if len(losses) > 1 else ""
        raise CallError(
            f"--out {options.out}: this would overwrite the result of {name}{others} and lose {', '.join(lost)}; "
            "choose another DIR, or use --force"
        )


def list_losses(stored: Result, grading: GradingOptions) -> Iterator[str]:
    """Yield the parts of a stored result that the new result would not contain."""
    for kata in stored.katas:
        if kata.status != "not_graded" and kata.kata in course().katas and kata.kata not in grading.katas:
            yield kata.kata
    if stored.seed != grading.seed:
        yield f"seed {stored.seed}"
    if stored.examples > grading.examples:
        yield f"{stored.examples} examples"
    if stored.isolation == "bwrap" and grading.isolation == "none":
        yield "isolation bwrap"
    if stored.device != grading.device and any(row.counts for row in stored.performance):
        yield f"speed on {stored.device}"

"""Runs the tests of all submissions without a result, and stores each result as soon as it is complete."""

import contextlib
from collections.abc import Iterable
from itertools import chain
from textwrap import indent

import msgspec
from rich.console import Console

from grader.base.errors import CallError
from grader.base.files import clear_runtimes
from grader.pipeline import regrade
from grader.pipeline.collect import Tests
from grader.pipeline.executor import ProgressListener, RunOutcome, Warn
from grader.pipeline.job import FinishedTest, Graded, Job
from grader.pipeline.lint import find_missing_rules
from grader.pipeline.progress import Progress
from grader.pipeline.proven_sandbox import run_with_tests
from grader.pipeline.queue import Queue
from grader.pipeline.reference import Checks, find_missing_solutions
from grader.pipeline.startup import Startup
from grader.results import previous, result, source
from grader.results.dependencies import digest_submission, environment
from grader.results.history import course_version
from grader.sandbox.launch import Sandbox


def grade_tests(
    queue: Queue, out: Console, warn: Warn, live: ProgressListener | None = None, startup: Startup | None = None
) -> RunOutcome:
    """Run the tests of all pending submissions.

    Raises CallError (before anything is written) if the options or submissions can't be used, or MachineError if this
    machine can't grade.
    """
    options, outcome = queue.options, RunOutcome()
    queued = queue.to_grade()
    try:
        first = next(queued, None)
    except CallError as error:
        if live is not None:
            live.refuse(queue.refused[0].reason if queue.refused else str(error))
        raise
    if first is None:
        if live is not None and queue.refused:
            live.refuse(queue.refused[0].reason)
        return outcome
    waiting = chain([first], queued)

    def use(tests: Tests, sandbox: Sandbox) -> None:
        grade_all(waiting, queue, outcome, tests, sandbox, out, warn, live)

    clear_runtimes()
    if live is not None:
        blank = queue.blank(first.submission.id)
        untimed: list[result.PerformanceResult] = []
        if options.device != "none":
            from grader.pipeline.speed import build_untimed_rows

            untimed = build_untimed_rows(options.device, queue.katas)
        live.begin(msgspec.structs.replace(blank, performance=untimed))
    private = [path.absolute() for path in (*(entry.path for entry in queue.entries), options.out)]
    run_with_tests(options.isolation, options.examples, warn, use, private=private, katas=queue.katas, startup=startup)
    return outcome


def grade_all(
    queued: Iterable[Job],
    queue: Queue,
    outcome: RunOutcome,
    tests: Tests,
    sandbox: Sandbox,
    out: Console,
    warn: Warn,
    live: ProgressListener | None,
) -> None:
    """Grade the jobs and store each result as soon as it is complete. Raises MachineError if that fails."""
    tests_each = sum(len(kata.points) for kata in queue.katas)
    for path in find_missing_solutions(queue.katas):
        warn(f"{path} is missing: a mistake in this kata's tests can't be distinguished from a student's")
    if line := find_missing_rules(queue.katas):
        warn(line)
    checks = Checks(queue.katas, tests, sandbox, queue.options, of_class=len(queue.entries) > 1)
    if sandbox.isolation != "bwrap" or live is not None:  # a live report must not show what a broken test says
        with Progress(out, "checking the tests, solution", "katas", len(queue.katas), tests_each) as progress:
            checks.check_tests([*checks.unchecked.values()], progress.take)
    reported: set[tuple[str, str]] = set()
    progress = Progress(out, "grading", "submissions", queue.expected, queue.expected * tests_each)
    with progress, contextlib.closing(checks.grade(queued)) as events:
        for event in events:
            progress.expect(queue.expected, queue.expected * tests_each)
            progress.take(event)
            if live is not None and isinstance(event, FinishedTest):
                live.add(event)
            if isinstance(event, Graded):
                for (kata, test), trace in event.traces.items():
                    if (kata, test) not in reported | tests.broken | tests.doubtful.keys():
                        text = f"tests/test_{kata}.py: {test} is broken; fix it, or waive it in waive.toml"
                        outcome.broken.append(f"{text}\n{indent(trace, '  ')}")
                    reported.add((kata, test))
                submission = event.job.submission.id
                store(event, queue, sandbox)
                outcome.stored.append(submission)
                stored = event.job.reusable
                outcome.again.update(kata.kata for kata in event.katas if stored and stored.get(kata.kata) != kata)
                if any(kata.status == "inconclusive" for kata in event.katas):
                    outcome.unsure.append(submission)
    outcome.broken = checks.problems + outcome.broken


def store(event: Graded, queue: Queue, sandbox: Sandbox) -> None:
    """Store a result. With `--keep better`, keep the earlier result of a kata if it is better (see `keep_better`).

    Raises MachineError if the result can't be stored.
    """
    submission, options = event.job.submission.id, queue.options
    entry = queue.by_id[submission]
    katas = [msgspec.structs.replace(kata, digest=queue.judges[kata.kata]) for kata in event.katas]
    submitted, near = event.job.submission, event.job.submission.near_misses
    hand_in = digest_submission(submitted.judged)
    if options.keep == "better":
        stored = result.load(options.out / submission / "result.json")
        katas = regrade.keep_better(stored if stored and stored.hand_in == hand_in else None, katas)
    unwritten = [row.kata for row in katas if row.status == "not_started" or f"{row.kata}.py" not in submitted.files]
    previous.keep_previous(options.out, submission, queue.judges)
    source.store(options.out, submission, hand_in, submitted.files)
    new = msgspec.structs.replace(
        queue.blank(submission),
        score=sum(kata.score for kata in katas),
        max_score=sum(kata.max_score for kata in katas),
        isolation=sandbox.isolation,
        seconds=round(event.seconds, 3),
        environment={**environment(), "workers can": ", ".join(sandbox.violations)},
        katas=katas,
        findings=event.findings,
        course=course_version(),
        hand_in=hand_in,
        origin=entry.origin,
        late_by_platform=entry.late_by_platform,
        near_misses={kata: near[kata] for kata in unwritten if kata in near},
        notes=submitted.list_notes(),
    )
    result.write(new, options.out)

"""Runs the tests of all submissions that have no result yet, and stores each result as it comes."""

import contextlib
from collections.abc import Iterable, Sequence
from itertools import chain

import msgspec
from rich.console import Console

from grader.base.cleanup import clear_runtimes
from grader.base.errors import CallError
from grader.pipeline import regrade
from grader.pipeline.collect import Tests
from grader.pipeline.executor import Following, RunOutcome, Warn
from grader.pipeline.progress import Progress
from grader.pipeline.queue import Options, Queue
from grader.pipeline.reference import check_tests, indent, missing_solutions
from grader.pipeline.session import Graded, Job, TestRan
from grader.pipeline.session import grade as grade_jobs
from grader.pipeline.setup import with_workplace
from grader.pipeline.startup import Start
from grader.results import result, source
from grader.results.dependencies import environment
from grader.results.history import course_version
from grader.results.result import Result
from grader.sandbox.launch import Sandbox
from torchkata.course import Kata


def grade_tests(
    queue: Queue, out: Console, warn: Warn, live: Following | None = None, start: Start | None = None
) -> RunOutcome:
    """Run the tests of what has not been graded. Raises CallError before anything is written, and MachineError."""
    options, outcome = queue.options, RunOutcome()
    queued = queue.to_grade()
    try:
        first = next(queued, None)
    except CallError as error:
        if live is not None:
            live.refuse(str(error))
        raise
    if first is None:
        if live is not None and queue.refused:
            live.refuse(queue.refused[0])
        return outcome
    waiting = chain([first], queued)

    def use(tests: Tests, sandbox: Sandbox) -> None:
        grade_all(waiting, queue, outcome, tests, sandbox, out, warn, live)

    clear_runtimes()
    if live is not None:
        blank = result_of(Graded(first, [], 0.0), [], options, None, queue.prints[first.submission.id])
        live.begin(msgspec.structs.replace(blank, performance=not_timed_yet(options, queue.katas)))
    private = [path.absolute() for path in (*(entry.path for entry in queue.entries), options.out)]
    with_workplace(
        options.grading.isolation,
        options.grading.examples,
        warn,
        use,
        private=private,
        katas=queue.katas,
        start=start,
        replay=options.grading.replay,
    )
    return outcome


def not_timed_yet(options: Options, katas: Sequence[Kata]) -> list[result.PerformanceResult]:
    """The rows of workloads that are still to be timed; none without a device."""
    if options.grading.device == "none":
        return []
    from grader.pipeline.speed import not_yet

    return not_yet(options.grading.device, katas)


def grade_all(
    queued: Iterable[Job],
    queue: Queue,
    outcome: RunOutcome,
    tests: Tests,
    sandbox: Sandbox,
    out: Console,
    warn: Warn,
    live: Following | None,
) -> None:
    """Grade the jobs and store each result as it comes. Raises MachineError."""
    each = sum(len(kata.points) for kata in queue.katas)
    for path in missing_solutions(queue.katas):
        warn(f"{path} is missing: a mistake in the tests of this kata may look like one of a student")
    with Progress(out, "checking the tests, solution", "katas", len(queue.katas), each) as progress:
        outcome.broken = check_tests(queue.katas, tests, sandbox, queue.options, progress.take)
    told: set[tuple[str, str]] = set()
    progress = Progress(out, "grading", "submissions", queue.expected, queue.expected * each)
    with progress, contextlib.closing(grade_jobs(queued, tests, sandbox, queue.options.jobs)) as events:
        for event in events:
            progress.expect(queue.expected, queue.expected * each)
            progress.take(event)
            if live is not None and isinstance(event, TestRan):
                live.add(event)
            if isinstance(event, Graded):
                for (kata, test), trace in event.traces.items():
                    if (kata, test) not in told and (kata, test) not in tests.broken:
                        text = f"tests/test_{kata}.py: {test} fails whatever is answered\n{indent(trace)}"
                        outcome.broken.append(text)
                    told.add((kata, test))
                submission = event.job.submission.id
                store(event, queue, sandbox)
                outcome.stored.append(submission)
                kept = event.job.kept
                outcome.again.update(kata.kata for kata in event.katas if kept and kept.get(kata.kata) != kata)
                if any(kata.status == "inconclusive" for kata in event.katas):
                    outcome.unsure.append(submission)


def store(event: Graded, queue: Queue, sandbox: Sandbox) -> None:
    """Store what a job came to, beside what it may not take away. Raises MachineError."""
    submission, options = event.job.submission.id, queue.options
    katas = regrade.with_digests(event.katas)
    if options.grading.keep == "better":
        katas = regrade.better(result.load(options.out / submission / "result.json"), katas)
    fingerprint = queue.prints.pop(submission)
    code = event.job.submission.files if options.pseudonyms is None else {}
    source.store(options.out, submission, fingerprint, code)
    made = result_of(event, katas, options, sandbox, fingerprint)
    when, basis = event.job.submission.handed_in, queue.bases.pop(submission)
    made = msgspec.structs.replace(made, basis=basis, course=course_version(), handed_in=when)
    result.store(made, options.out)


def result_of(
    event: Graded, katas: list[result.KataResult], options: Options, sandbox: Sandbox | None, fingerprint: str
) -> Result:
    """The result to store; without a sandbox, of what is yet to be graded."""
    return Result(
        submission=event.job.submission.id,
        score=sum(kata.score for kata in katas),
        max_score=sum(kata.max_score for kata in katas),
        fingerprint=fingerprint,
        seed=options.grading.seed,
        examples=options.grading.examples,
        isolation=options.grading.isolation if sandbox is None else sandbox.isolation,
        seconds=round(event.seconds, 3),
        environment={**environment(), "workers can": ", ".join([] if sandbox is None else sandbox.violations)},
        katas=katas,
        findings=event.findings,
    )

"""Grades the katas of one submission in the calling process."""

import contextlib
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace
from types import MappingProxyType

import pytest

from grader.pipeline import rubric
from grader.pipeline.collect import Tests, run_test
from grader.pipeline.job import Job
from grader.pipeline.left_aside import add_notes
from grader.pipeline.startup import compute_patience
from grader.results.result import KataResult
from grader.sandbox.runner import WorkerRunner
from torchkata.course import course
from torchkata.i18n import format_label
from torchkata.i18n import translate_for_class as _
from torchkata.inside import hypothesis_internals
from torchkata.pytest_plugin.run_state import get_state
from torchkata.result import BROKEN, FAILED, TestResult
from torchkata.seam.student import Student

UNSURE = "this test could not be graded; this is not your fault, and your instructor can grade it again"


def grade_submission(
    job: Job,
    tests: Tests,
    runner: WorkerRunner,
    report: Callable[[str, TestResult, str], None],
    finished: Mapping[str, Mapping[str, TestResult]] = MappingProxyType({}),
) -> list[KataResult]:
    """Grade all katas of a submission in order.

    If a kata builds on a kata that is not done, the fallback of that kata is used instead of the student's code.
    Without a fallback, the student's code is used, and the message of a failed test says so.

    Args:
        report: called after each test with the kata, the result, and the traceback if the test is broken.
        finished: the results of tests that do not have to run again, by kata and test.
    """
    state = get_state(tests.config)
    state.seed, state.is_seed_secret = job.seed, not job.for_instructor
    state.student = student = Student(runner)
    if job.expect_failure:
        state.inputs, state.is_quick_proof = None, True
    results: list[KataResult] = []
    for kata in job.katas:
        done = {result.kata for result in results if result.status == "done"} | job.known_good
        if kata.name in job.reusable and has_same_fallbacks(kata.name, done, job.done_before):
            results.append(job.reusable[kata.name])
            continue
        missing = [name for name in course().prerequisites(kata.name) if name not in done]
        fallbacks = course().fallbacks(missing)
        student.fallbacks = frozenset(fallbacks)
        open_katas = [name for name in missing if f"{name}.py" not in fallbacks]
        runner.open({**job.submission.files, **fallbacks}, compute_patience(tests.examples))
        ended = dict(finished.get(kata.name, {}))
        for name in kata.points:
            if name not in ended:
                with limit_examples(job, tests.items[kata.name][name]):
                    run = run_test(tests.items[kata.name][name])
                result = add_notes(job.submission, kata.name, name_open_kata(run, open_katas, job))
                ended[name] = excuse(tests, kata.name, result)
                report(kata.name, ended[name], "" if ended[name] is result else result.message)
        results.append(rubric.score(kata, ended))
    runner.end()
    return results


def draw_ahead(job: Job, tests: Tests) -> None:
    """Draw the inputs of the job's tests before the fork, so that all children share them."""
    inputs = get_state(tests.config).inputs
    if inputs is None or job.expect_failure:
        return
    for kata in job.katas:
        for name in () if kata.name in job.reusable else kata.points:
            item = tests.items[kata.name][name]
            if is_property(item):
                with limit_examples(job, item):
                    inputs.draw(item, job.seed)


def is_property(item: pytest.Function) -> bool:
    """Return whether the inputs of a test are drawn by Hypothesis."""
    return hasattr(item.obj, "hypothesis")


def limit_examples(job: Job, item: pytest.Function) -> contextlib.AbstractContextManager[None]:
    """Return a context manager that reduces a test's number of examples if the job needs only a few."""
    return (
        hypothesis_internals.limit_examples(item.obj)
        if job.few_examples and is_property(item)
        else contextlib.nullcontext()
    )


def excuse(tests: Tests, kata: str, result: TestResult) -> TestResult:
    """Return the result that a student sees. It is inconclusive if the test or the machine may be at fault.

    A test that is known to be broken gives its points to everybody. Neither result says how the test failed, because
    that may be secret.
    """
    if result.outcome != "passed" and (kata, result.name) in tests.broken:
        message = _("waived: this test is broken. This is not your fault, and you get its full points.")
        return TestResult(result.name, "waived", message=message)
    cause = tests.doubtful.get((kata, result.name)) if result.outcome in FAILED else None
    if result.cause.startswith(BROKEN):
        cause = BROKEN
    if cause is None:
        return result
    return TestResult(result.name, "inconclusive", message=UNSURE, cause=cause, seconds=result.seconds)


def has_same_fallbacks(kata: str, done: Set[str], done_before: Set[str]) -> bool:
    """Return whether a kata that was graded before would use the same fallbacks again."""
    return {*course().prerequisites(kata)}.isdisjoint(done ^ done_before)


def name_open_kata(result: TestResult, open_katas: Sequence[str], job: Job) -> TestResult:
    """Add a note to the message of a test that may have failed because of a prerequisite that is not done.

    Args:
        open_katas: the prerequisites that are neither done nor replaced by a fallback. The note names the first one,
            preferably one that the job grades.
    """
    if not open_katas or not (result.outcome in FAILED or result.file in {f"{name}.py" for name in open_katas}):
        return result
    graded = [name for name in open_katas if name in {kata.name for kata in job.katas}]
    remark = _(
        "builds on `{kata}`, which is not done here" if graded else "builds on `{kata}`, which is not graded here",
        kata=[*graded, *open_katas][0],
    )
    note = format_label(_("note"), remark)
    heading, line_break, rest = result.message.partition("\n")
    return replace(result, message=f"{heading}\n{note}{line_break}{rest}")

"""Measures how long each step takes when one more submission is graded: `python -m benchmarks.grade --profile`.

The submission is graded in this process, and each step is timed. The student's code runs in workers, whose
processor time is read from the kernel. The same calls also run in this process, to show the time of the code alone.
"""

import contextlib
import sys
from collections.abc import Callable
from typing import Any, TypeAlias

from benchmarks.sections import REST, Stopwatch, list_functions, measure_tree
from grader.pipeline import collect, grading
from grader.pipeline.collect import Tests
from grader.pipeline.grading import GradingRunner
from grader.pipeline.job import Job
from grader.sandbox import channel
from grader.sandbox.launch import Sandbox, connect_zygote
from grader.sandbox.runner import WorkerRunner
from torchkata.compare import assertions
from torchkata.course import course
from torchkata.pytest_plugin import first_pass
from torchkata.seam import reply
from torchkata.seam.student import Student
from torchkata.seam.values import to_plain

Row: TypeAlias = tuple[str, str, str, str]

START, ENCODE, WAIT, DECODE = "start workers", "encode calls", "send, and wait for the reply", "decode replies"
LIMITS, COPY, EXPECTED, COMPARE = "time limits of calls", "check and copy values", "expected values", "compare"
BODY, PYTEST, CODE = "the tests' own code", "pytest, for each test", "the student's code"


def list_measured_functions() -> dict[Callable[..., Any], str]:
    """Return the functions to measure, each with the section of the table to which its time is added."""
    runner = WorkerRunner
    found: dict[Callable[..., Any], str] = dict.fromkeys((runner.start, runner.reset, runner.end), START)
    found |= {channel.encode: ENCODE, channel.decode_reply: DECODE, channel.Channel.send: WAIT}
    found |= {channel.Channel.receive: WAIT, runner.run_probe: LIMITS, Student.call: COPY, to_plain: COPY}
    for name in course().katas:
        oracle = sys.modules.get(f"reference.{name}.oracle")
        found |= dict.fromkeys(list_functions(oracle) if oracle else (), EXPECTED)
    found |= dict.fromkeys(list_functions(assertions), COMPARE)
    return found | {first_pass.run_inputs: BODY, collect.run_test: PYTEST, reply.run_probe: CODE}


def profile_grading(jobs: dict[str, Job], tests: Tests, sandbox: Sandbox, local: GradingRunner) -> list[Row]:
    """Return the rows of the table: for each step, its name, wall time, processor time and number of calls.

    Args:
        jobs: the solution and the unmodified stubs, by name.
        local: a runner that runs the solution in this process.
    """
    watch = Stopwatch()
    with watch.measuring(list_measured_functions()), contextlib.closing(connect_zygote(sandbox)) as control:
        runner = WorkerRunner(control, course().limits)
        used = {}
        for name, job in jobs.items():
            before = measure_tree(sandbox.process.pid)
            watch.restart()
            grading.grade_submission(job, tests, runner, lambda *_: None)
            watch.charge()
            after = measure_tree(sandbox.process.pid)
            used[name] = [now - then for now, then in zip(after, before, strict=True)]
            if name == "solution":
                rows = make_rows(watch)
        watch.restart()
        grading.grade_submission(jobs["solution"], tests, local, lambda *_: None)
        watch.charge()
    workers, code = sum(used["solution"]), watch.processor[CODE]
    empty = sum(used["stubs"])
    rows.append(("workers and zygote", "", f"{workers:.2f}", ""))
    rows.append(("  of which fork, limits, files and end", "", f"{empty:.2f}", "with the untouched stubs"))
    rows.append(("  of which the student's code", "", f"{code:.2f}", "run in one process"))
    rows.append(("  of which the rest", "", f"{workers - empty - code:.2f}", "decode, encode, page faults"))
    return rows


def make_rows(watch: Stopwatch) -> list[Row]:
    """Return a row for each section, sorted by decreasing wall time, and a row with the totals."""
    rows = [
        (name, f"{watch.wall[name]:.2f}", f"{watch.processor[name]:.2f}", f"{watch.calls[name] or ''}")
        for name in sorted(watch.wall, key=lambda name: -watch.wall[name])
        if name != REST or watch.wall[name] > 0.05
    ]
    return [*rows, ("grader, in all", f"{sum(watch.wall.values()):.2f}", f"{sum(watch.processor.values()):.2f}", "")]

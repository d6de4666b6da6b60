"""Finds the test that catches a wrong entry most cheaply, and writes it beside the entry: `caught_by`."""

import re
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from grader.base.errors import CallError
from grader.pipeline.collect import Tests
from grader.pipeline.session import Graded, grade
from grader.proof.claims import catching, misremembered
from grader.proof.prove import Keep, ZooOutcome
from grader.proof.zoo import ZooEntry, wrong_file
from grader.results.result import KataResult, write_whole
from grader.sandbox.launch import Sandbox
from torchkata.course import course

SEEDS = 3  # under which a test should catch an entry, to be remembered


def remember(outcome: ZooOutcome, tests: Tests, sandbox: Sandbox, jobs: int, keep: Keep) -> None:
    """Write what catches the entries whose only flaw is that they don't say so; then their claims hold."""
    flawed = {id(claim): problem for claim, problem in outcome.failed}
    wanting, graded = {}, {}
    for claim, katas in outcome.results:
        problem = flawed.get(id(claim))
        if problem and claim.entry and katas and problem == misremembered(claim.entry, katas):
            wanting[claim.job.submission.id] = (claim, claim.entry)
            graded[claim.job.submission.id] = [katas]
    queued = [replace(claim.job, seed=seed) for claim, _ in wanting.values() for seed in range(1, SEEDS)]
    for event in grade(queued, tests, sandbox, jobs):
        if isinstance(event, Graded):
            graded[event.job.submission.id].append(event.katas)
    found: dict[str, dict[str, str]] = {}
    for name, (claim, entry) in wanting.items():
        test = cheapest(entry, graded[name])
        if test is not None:
            found.setdefault(entry.kata, {})[entry.name] = test
            outcome.failed.remove((claim, flawed[id(claim)]))
            keep(claim, graded[name][0])
    for kata, by_entry in found.items():
        write(wrong_file(course().katas[kata]), by_entry)


def cheapest(entry: ZooEntry, graded: Sequence[Sequence[KataResult]]) -> str | None:
    """What catches an entry the first time and most often, and is the quickest at its slowest; None if nothing does."""
    times = [catching(entry, results) for results in graded]
    caught = Counter(name for each in times for name in each if name in times[0])
    slowest = {name: max(each.get(name, 0.0) for each in times) for name in caught}
    return min(caught, key=lambda name: (-caught[name], slowest[name]), default=None)


def write(path: Path, tests: Mapping[str, str]) -> None:
    """Give these entries of a file their `caught_by`, in the line behind `breaks`; every other line stays as it is.

    Raises CallError for a file that is not laid out so.
    """
    before = path.read_bytes().decode()
    expected = tomllib.loads(before)
    for name, test in tests.items():
        expected[name]["caught_by"] = test
    lines, entry, todo = [], "", dict(tests)
    for line in before.split("\n"):
        if header := re.fullmatch(r"\[(\w+)\]\s*", line):
            entry = header[1]
        if entry not in tests or not line.startswith("caught_by = "):
            lines.append(line)
        if entry in todo and line.startswith("breaks = "):
            lines.append(f'caught_by = "{todo.pop(entry)}"' + ("\r" if line.endswith("\r") else ""))
    after = "\n".join(lines)
    try:
        same = tomllib.loads(after) == expected
    except tomllib.TOMLDecodeError:
        same = False
    if not same:
        raise CallError(f"{path.name}: caught_by can't be written: [name] and breaks = … must have lines of their own")
    write_whole(path, after.encode())

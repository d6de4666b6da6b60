"""What the outcome of grading a job depends on, as one digest: files, inputs, versions.

    test_<kata>.py, its probes, oracle and mistakes ─────────────┐
    torchkata/*.py, grader/pipeline/, grader/sandbox/ ───────────┴─► and all of ours that these import, anywhere

What is judged of the outcome, and the sentences that a student reads, are not in it.
"""

import hashlib
from functools import cache
from pathlib import Path

from grader.base.imports import module_path, with_imports
from grader.pipeline.session import Job
from grader.results.result import environment
from torchkata.course import ENGINE, course

OF_THE_ENGINE = (
    "torchkata/[!_]*.py",
    "grader/pipeline/session.py",
    "grader/pipeline/workplace.py",
    "grader/sandbox/*.py",
)
OF_THE_COURSE = ("conftest.py", "tests/test_{kata}.py", "tests/probes/{kata}.py", "reference/{kata}/*.py")


def digest(job: Job, examples: int, isolation: str) -> str:
    """The same for what must come out the same; another if anything changes that it depends on."""
    names = {kata.name for kata in job.katas}
    needed = [*names, *(name for kata in names for name in course().foundations(kata))]
    about = (examples, job.few, isolation, job.seed, job.limits, sorted(job.known_good & {*needed}))
    found = hashlib.sha256(repr((about, versions())).encode())
    for kata in job.katas:
        found.update(repr((kata.name, [*kata.points], ours(kata.name))).encode())
    for name in sorted({*needed}):
        source = job.submission.files.get(f"{name}.py")
        found.update(repr((name, source and hashlib.sha256(source).hexdigest())).encode())
    return found.hexdigest()


@cache
def versions() -> tuple[tuple[str, str], ...]:
    """Of Python, this platform, torch and the other libraries."""
    return tuple(sorted(environment().items()))


@cache
def ours(kata: str) -> str:
    """A digest of everything of ours that takes part in grading a kata, as it was when this was first asked."""
    roots = [path for pattern in OF_THE_ENGINE for path in ENGINE.glob(pattern)]
    roots += [path for pattern in OF_THE_COURSE for path in course().root.glob(pattern.format(kata=kata))]
    roots = [path for path in roots if path.name != "solution.py"]  # which is handed in: it is in the order
    roots += [course().fallback(name) for name in course().foundations(kata)]
    found = hashlib.sha256(repr(course().preload).encode())
    for path in sorted(with_imports(roots)):
        found.update(f"{module_path(path).as_posix()}:{content(path)};".encode())
    return found.hexdigest()


@cache
def content(path: Path) -> str:
    """A digest of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()

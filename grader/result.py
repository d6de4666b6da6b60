"""What grading a submission comes to, as it is stored: `DIR/<id>/result.json`, whole or not at all."""

import hashlib
import os
import platform
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec

from kata.catalog import ROOT
from kata.explain import Outcome, Status

SCHEMA = "torchkata/result/v1"
GRADED_BY = ("kata", "tests", "reference/oracle", "grader")  # what decides a score


class TestResult(msgspec.Struct, frozen=True):
    """One test."""

    name: str
    outcome: Outcome
    score: float
    max_score: float
    message: str = ""
    diagnosis: str | None = None
    seconds: float = 0.0
    file: str = ""  # where in the student's files it ended, if that is known
    line: int = 0


class KataResult(msgspec.Struct, frozen=True):
    """One kata."""

    kata: str
    status: Status
    score: float
    max_score: float
    tests: list[TestResult]


class Result(msgspec.Struct, frozen=True):
    """One submission."""

    submission: str
    score: float
    max_score: float
    fingerprint: str
    seed: int
    examples: int
    isolation: str
    seconds: float
    environment: dict[str, str]
    katas: list[KataResult]
    device: str = "none"
    performance: list[dict[str, Any]] = []
    schema: str = SCHEMA

    def status(self, kata: str) -> Status:
        """The status of a kata, not graded if it was not asked for."""
        return next((result.status for result in self.katas if result.kata == kata), "not_graded")

    @property
    def conclusive(self) -> bool:
        """Whether no machine's fault is in it."""
        return all(result.status != "inconclusive" for result in self.katas)


def environment() -> dict[str, str]:
    """The versions that a result depends on."""
    packages = {name: version(name) for name in ("torch", "numpy", "hypothesis", "pytest", "einops", "jaxtyping")}
    return {"python": platform.python_version(), "platform": platform.platform(), **packages}


def fingerprint(files: Mapping[str, bytes], options: Mapping[str, object]) -> str:
    """The same for the same submission, assignment and options; another if any of them changes."""
    digest = hashlib.sha256(repr((sorted(options.items()), assignment_digest())).encode())
    for name, content in sorted(files.items()):
        digest.update(f"{name}:{hashlib.sha256(content).hexdigest()};".encode())
    return f"sha256:{digest.hexdigest()}"


@cache
def assignment_digest() -> str:
    """What decides a score here: tests, probes, oracle, grader, and torch."""
    digest = hashlib.sha256(version("torch").encode())
    for path in sorted(assignment_files()):
        digest.update(f"{path.relative_to(ROOT).as_posix()}:".encode() + path.read_bytes())
    return digest.hexdigest()


def assignment_files() -> Iterator[Path]:
    """The files that decide a score."""
    for folder in GRADED_BY:
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".py", ".toml") and (ROOT / "grader/tests") not in path.parents:
                yield path


def write(result: Result, directory: Path) -> None:
    """Store a result, whole or not at all."""
    folder = directory / result.submission
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / "result.json", msgspec.json.format(msgspec.json.encode(result), indent=1))


def write_whole(path: Path, content: bytes) -> None:
    """Write aside, then put in place."""
    aside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with aside.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


def load(path: Path) -> Result | None:
    """A stored result; None where there is none that can be read."""
    try:
        result = msgspec.json.decode(path.read_bytes(), type=Result)
    except (OSError, msgspec.MsgspecError):
        return None
    return result if result.schema == SCHEMA else None


def load_all(directory: Path) -> list[Result]:
    """All results of a directory, by submission."""
    found: Iterable[Result | None] = (load(path) for path in directory.glob("*/result.json"))
    return sorted((result for result in found if result is not None), key=lambda result: result.submission)

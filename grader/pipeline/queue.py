"""Takes in one submission after the other: reads it when its turn comes, and finds out whether it is to be graded."""

import dataclasses
import shlex
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec
from msgspec.structs import replace

from grader.base.cleanup import clear_half_written
from grader.base.errors import CallError
from grader.pipeline import regrade
from grader.pipeline.archives import SubmissionError
from grader.pipeline.seed import keep
from grader.pipeline.session import Job
from grader.pipeline.submission import read as read_submission
from grader.pipeline.submission_ids import Entry
from grader.results import result
from grader.results.dependencies import digest_basis, digest_result, environment
from grader.results.history import course_version
from grader.results.result import Result
from grader.sandbox.launch import Isolation
from torchkata.course import Kata

OTHERS_WRITE = 0o022  # the group, and everybody
SAME_END = ("device", "replay", "keep")  # with any of their values a kata ends the same; speed has its own digest


class GradingOptions(msgspec.Struct, frozen=True):
    """The options that results depend on. A task of a cluster is sent all of them."""

    seed: int
    examples: int
    isolation: Isolation
    katas: tuple[str, ...]
    device: Literal["none", "cpu", "cuda"] = "none"
    replay: bool = True  # inputs are drawn once for all submissions
    keep: Literal["new", "better"] = "new"  # of what is stored and what a regrade gives

    def select_dependencies(self, *without: str) -> dict[str, object]:
        """Return by name the options that decide how a kata ends: the digests of a result cover them."""
        left_out = {*SAME_END, *without}
        return {name: value for name, value in msgspec.structs.asdict(self).items() if name not in left_out}


@dataclass(frozen=True)
class Options:
    """The options of `grader grade`: those that results depend on, and what this process does."""

    grading: GradingOptions
    out: Path
    jobs: int = 1
    force: bool = False
    quiet: bool = False
    gradescope: Path | None = None
    executor: Literal["local", "slurm"] = "local"
    slurm: tuple[str, ...] = ()  # KEY=VALUE
    per_task: int | None = None  # submissions that a task of the cluster grades; None: as many as keep it busy a while
    pseudonyms: Path | None = None  # the key to them; code may name its author, and is not stored
    people: Path | None = None
    as_json: bool = False
    alone: bool = True  # nobody else writes into `out` meanwhile
    since_ns: int = 0  # what was stored before is graded again, by the file system's clock


class Queue:
    """The submissions of one call, and what became of those that were not graded."""

    def __init__(
        self, entries: Sequence[Entry], refused: Sequence[str], katas: tuple[Kata, ...], options: Options
    ) -> None:
        self.entries = entries
        self.katas = katas
        self.options = options
        self.refused = list(refused)
        self.unreadable = 0
        self.reused: list[str] = []
        self.prints: dict[str, str] = {}  # by the id of each job
        self.bases: dict[str, str] = {}

    @property
    def expected(self) -> int:
        """How many there are to grade, as far as is known."""
        return len(self.entries) - len(self.reused) - self.unreadable

    def to_grade(self) -> Iterator[Job]:
        """What is to be graded. Raises CallError for an `out` that can't be written, or when nothing can be read.

        Why something can't be read is stored, too; in an `out` that is new only if something else can be.
        """
        out, grading, ready = self.options.out, self.options.grading, False
        unreadable: dict[str, str] = {}
        if out.is_dir():
            prepare(out, grading.seed, alone=self.options.alone)
            ready = True
        for entry in self.entries:
            submission = None
            try:
                submission = dataclasses.replace(read_submission(entry.path, entry.files), id=entry.id)
            except SubmissionError as error:
                self.refused.append(entry.told(str(error)))
                self.unreadable += 1
                unreadable[entry.id] = str(error).removeprefix(f"{entry.path}: ")
            if submission is not None and not ready:
                prepare(out, grading.seed, alone=self.options.alone)
                ready = True
            while ready and unreadable:
                self.store_unreadable(*unreadable.popitem())
            if submission is None:
                continue
            fingerprint = digest_result(submission.files, grading.select_dependencies())
            if not self.options.force and reusable(self.options, entry.id, fingerprint):
                self.reused.append(entry.id)
                continue
            self.prints[entry.id] = fingerprint
            self.bases[entry.id] = digest_basis(submission.files, grading.select_dependencies("katas"))
            stored = stored_for(self.options, entry.id)
            kept = regrade.kept(stored, self.bases[entry.id], self.katas)
            if stored is not None and is_whole(stored, kept, self.katas) and keeps_speed(self.options, stored):
                found = replace(stored, fingerprint=fingerprint, course=course_version(), unreadable="")
                result.store(found, out)
                self.reused.append(entry.id)
                continue
            before = regrade.done_in(stored)
            yield Job(submission, self.katas, grading.seed, linted=True, kept=kept, done_before=before)
        if not ready:
            raise CallError("; ".join(self.refused))

    def store_unreadable(self, submission: str, why: str) -> None:
        """Store why it can't be read, beside what was graded when it could be. Raises MachineError."""
        graded = result.load(self.options.out / submission / "result.json")
        result.store(replace(graded or self.blank(submission), unreadable=why), self.options.out)

    def blank(self, submission: str) -> Result:
        """The result of what has not been graded."""
        return Result(
            submission=submission,
            score=0.0,
            max_score=sum(kata.max_score for kata in self.katas),
            fingerprint="",
            seed=self.options.grading.seed,
            examples=self.options.grading.examples,
            isolation=self.options.grading.isolation,
            seconds=0.0,
            environment=environment(),
            katas=[],
        )


def prepare(directory: Path, seed: int, *, alone: bool) -> None:
    """See that results of this seed can be written there, and by nobody else. Raises CallError.

    `alone`, clear away what a killed run was writing.
    """
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        directory.mkdir(mode=0o700, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            pass
        if directory.stat().st_mode & OTHERS_WRITE:
            remedy = f"chmod go-w {shlex.quote(str(directory))}"
            raise CallError(f"--out {directory}: others may write there, and so change results; {remedy}")
        keep(directory, seed)
    except OSError as error:
        raise CallError(f"--out {directory}: can't write there ({error.strerror})") from None
    if alone:
        clear_half_written(directory)


def stored_for(options: Options, submission: str) -> Result | None:
    """The result that a new one takes the place of; None where it does not count."""
    path = options.out / submission / "result.json"
    if options.force or not path.exists() or path.stat().st_mtime_ns < options.since_ns:
        return None
    return result.load(path)


def reusable(options: Options, submission: str, fingerprint: str) -> bool:
    """Whether the same submission, assignment and options are stored, with nothing in it that is inconclusive.

    Speed that was graded and is not asked for now would count.
    """
    path = options.out / submission / "result.json"
    stored = result.load(path)
    if stored is None or stored.unreadable or stored.fingerprint != fingerprint or not stored.conclusive:
        return False
    if path.stat().st_mtime_ns < options.since_ns:
        return False
    return keeps_speed(options, stored)


def is_whole(stored: Result, kept: Iterable[str], katas: Iterable[Kata]) -> bool:
    """Whether what is kept is all that is stored, and all that is asked for."""
    return [kata.kata for kata in stored.katas] == [*kept] == [kata.name for kata in katas]


def keeps_speed(options: Options, stored: Result) -> bool:
    """Whether nothing is stored of its speed that this call is not about."""
    return options.grading.device != "none" or not stored.performance

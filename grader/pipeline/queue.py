"""The queue of submissions. Each submission is read when its turn comes, and graded unless its result is current.

`check_replaced` protects stored results from being replaced with results that contain less.
"""

import shlex
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from grader.base.errors import CallError, convert_write_errors
from grader.base.files import clear_half_written
from grader.base.text import count, list_names
from grader.options import GradeOptions
from grader.pipeline import regrade
from grader.pipeline import seed as seeds
from grader.pipeline.intake import take_in, take_in_all
from grader.pipeline.job import Job
from grader.pipeline.layouts import Download
from grader.pipeline.selection import choose
from grader.pipeline.submission_ids import Entry, Refusal, assign_ids
from grader.pipeline.trees import SubmissionError
from grader.results import result
from grader.results.dependencies import digest_submission, environment
from grader.results.result import Result
from torchkata.course import Kata, course

OTHERS_WRITE = 0o022  # write permission for the group or for everyone


class Queue:
    """The submissions of one command, and lists of those that were rejected or whose stored result was reused."""

    def __init__(
        self, entries: Sequence[Entry], refused: Sequence[Refusal], katas: tuple[Kata, ...], options: GradeOptions
    ) -> None:
        self.entries = entries
        self.by_id = {entry.id: entry for entry in entries}
        self.katas = katas
        self.options = options
        self.refused = list(refused)
        self.unreadable = 0
        self.reused: list[str] = []
        self.judges = {kata.name: options.digest_judge(kata.name) for kata in katas}

    @property
    def expected(self) -> int:
        """The number of submissions to grade, as far as it is known."""
        return len(self.entries) - len(self.reused) - self.unreadable

    def to_grade(self, at_once: int = 1) -> Iterator[Job]:
        """Yield a job for each submission that has to be graded. For each unreadable submission, store the reason.

        Raises CallError if `out` can't be written to, or if none of the submissions can be read. In the latter case,
        `out` is not created.
        """
        out, options, ready = self.options.out, self.options, False
        unstored = list(self.refused)
        if out.is_dir():
            prepare_directory(out, options.seed, alone=options.alone)
            ready = True
        for entry, submission in zip(self.entries, take_in_all(self.entries, at_once), strict=True):
            if isinstance(submission, Refusal):
                self.refused.append(submission)
                self.unreadable += 1
                unstored.append(submission)
                continue
            if not ready:
                prepare_directory(out, options.seed, alone=options.alone)
                ready = True
            hand_in, stored = digest_submission(submission.judged), load_replaced(self.options, entry.id)
            is_new = 0 < options.began_ns <= find_time_stored(out, entry.id)
            is_current = stored is not None and self.is_current(stored, hand_in, is_new=is_new)
            if stored and is_current and stored.conclusive and keeps_speed(options, stored):
                if stored.unreadable:
                    result.write(replace(stored, unreadable=""), out)
                self.reused.append(entry.id)
                continue
            reusable = regrade.find_reusable(stored, hand_in, self.judges)
            done = regrade.list_done(stored)
            yield Job(submission, self.katas, options.seed, lint=True, reusable=reusable, done_before=done)
        if not ready:
            raise CallError("; ".join(self.describe_refusals()))
        for refusal in unstored:
            self.store_refusal(refusal)

    def is_current(self, stored: Result, hand_in: str, *, is_new: bool) -> bool:
        """Return whether a result has the current digests: of the submission, and of what judges each kata.

        One with a waived test is current only if this call has stored it (`is_new`), so that each call reports the
        test until it is fixed.
        """
        judges = {kata.kata: kata.digest for kata in stored.katas}
        is_waived = any(map(regrade.has_waived_test, stored.katas))
        return stored.hand_in == hand_in and judges == self.judges and (is_new or not is_waived)

    def describe_refusals(self) -> list[str]:
        """Return a line for each refusal. One that may be a class names the command, unless a layout was given."""
        layouts = [refusal.error.layout if self.options.layout is None else "" for refusal in self.refused]
        return [
            f"{refusal}; if this is a class, use: grader grade --layout {layout} DIR" if layout else str(refusal)
            for refusal, layout in zip(self.refused, layouts, strict=True)
        ]

    def store_refusal(self, refusal: Refusal) -> None:
        """Store why a submission is not graded, and keep its earlier results. Raises MachineError if that fails."""
        submission = refusal.entry.id
        graded = result.load(self.options.out / submission / "result.json")
        late = refusal.entry.late_by_platform
        new = replace(graded or self.blank(submission), unreadable=refusal.reason, late_by_platform=late)
        result.write(new, self.options.out)

    def blank(self, submission: str) -> Result:
        """Return the result of a submission before any kata is graded."""
        return Result(
            submission=submission,
            score=0.0,
            max_score=sum(kata.max_score for kata in self.katas),
            seed=self.options.seed,
            examples=self.options.examples,
            isolation=self.options.isolation,
            seconds=0.0,
            environment=environment(),
            katas=[],
        )


def fill_queue(found: Download, options: GradeOptions, warn: Callable[[str], None]) -> Queue:
    """Return the queue of the submissions that were found. Raises CallError like `check_replaced`."""
    entries, refused = assign_ids(found.submissions, found.loose)
    if found.loose and options.slurm:
        why = SubmissionError("single files can't be graded with --slurm; put them into a folder")
        refused += [Refusal(entry, why) for entry in entries if entry.files]
        entries = [entry for entry in entries if not entry.files]
    if not options.again:
        check_replaced(entries, options, warn)
    return Queue(entries, refused, choose(options.katas), options)


def prepare_directory(directory: Path, seed: int, *, alone: bool) -> None:
    """Create the directory if necessary, and check that only this user can write to it. Raises CallError if that fails.

    If no other grader writes to it (`alone`), also remove partially written files that a killed run left behind.
    """
    with convert_write_errors(f"--out {directory}"):
        directory.parent.mkdir(parents=True, exist_ok=True)
        directory.mkdir(mode=0o700, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            pass
        if directory.stat().st_mode & OTHERS_WRITE:
            remedy = f"chmod go-w {shlex.quote(str(directory))}"
            raise CallError(f"--out {directory}: other users can write there and change results; {remedy}")
        seeds.store(directory, seed)
    if alone:
        clear_half_written(directory)


def find_time_stored(out: Path, submission: str) -> int:
    """Return when a result was stored, in nanoseconds by the file system's clock, or 0 if there is none."""
    try:
        return (out / submission / "result.json").stat().st_mtime_ns
    except OSError:
        return 0


def load_replaced(options: GradeOptions, submission: str) -> Result | None:
    """Return the stored result that a new result would replace, or None if it is missing or out of date."""
    if options.again or not (stored := find_time_stored(options.out, submission)) or stored < options.since_ns:
        return None
    return result.load(options.out / submission / "result.json")


def keeps_speed(options: GradeOptions, stored: Result) -> bool:
    """Return whether no speed result would be lost, because speed is graded again or no speed result is stored."""
    return options.device != "none" or not stored.performance


def check_replaced(entries: Sequence[Entry], options: GradeOptions, warn: Callable[[str], None]) -> None:
    """Warn of stored results that will be replaced although their submission seems to be the same.

    Raises CallError if a new result would contain less than the stored one, or use a different seed, or if it is of a
    submission from another place. In a class that the instructor has downloaded again (`--layout`), the same name is
    the same student, so the two places are only named.
    """
    losses: dict[str, list[str]] = {}
    moved: dict[tuple[Path, Path], list[tuple[str, str]]] = {}
    earlier = 0
    for entry in entries:
        stored = result.load(options.out / entry.id / "result.json")
        if stored is None or not stored.katas:
            continue
        if lost := list(list_losses(stored, options)):
            losses[entry.id] = lost
        earlier += not stored.hand_in
        if is_of_another(stored, entry, options):
            if options.layout is None:
                raise CallError(
                    f"{entry.label}: --out {options.out} has a result of another submission, {stored.origin}, with "
                    "this name; for a resubmission, use --again, or --layout with the folder of a class; otherwise "
                    "choose another DIR"
                )
            places = stored.origin, entry.origin
            moved.setdefault((Path(stored.origin).parent, Path(entry.origin).parent), []).append(places)
    if losses:
        name, lost = next(iter(losses.items()))
        others = f" and {len(losses) - 1} more" if len(losses) > 1 else ""
        raise CallError(
            f"--out {options.out}: this would overwrite the result of {name}{others} and lose {', '.join(lost)}; "
            "choose another DIR, or use --again"
        )
    if earlier:
        warn(f"{count(earlier, 'stored result')} of an earlier version of the grader: graded again, once")
    for (old, new), pairs in moved.items():
        if len(pairs) == 1:
            warn(f"the result of {pairs[0][0]} is now that of {pairs[0][1]}")
        else:
            names = list_names([Path(place).name for _, place in pairs])
            warn(f"the results of {len(pairs)} submissions in {old} are now those of submissions in {new}: {names}")


def is_of_another(stored: Result, entry: Entry, options: GradeOptions) -> bool:
    """Return whether a result comes from another place than a submission, and from other files.

    What can't be read in the folder of a class replaces no result.
    """
    if stored.origin in ("", entry.origin):
        return False
    submission = take_in(entry)
    if isinstance(submission, Refusal):
        return options.layout is None
    return digest_submission(submission.judged) != stored.hand_in


def list_losses(stored: Result, options: GradeOptions) -> Iterator[str]:
    """Yield the parts of a stored result that the new result would not contain."""
    for kata in stored.katas:
        if kata.status != "not_graded" and kata.kata in course().katas and kata.kata not in options.katas:
            yield kata.kata
    if stored.seed != options.seed:
        yield f"seed {stored.seed}"
    if stored.examples > options.examples:
        yield count(stored.examples, "example")
    if stored.isolation == "bwrap" and options.isolation == "none":
        yield "isolation bwrap"
    if stored.device != options.device and any(row.counts for row in stored.performance):
        yield f"speed on {stored.device}"

"""What every part of `grader certify` shares: its options, the loop that grades, trials of a corpus, and a proof."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from rich import box
from rich.console import Console
from rich.table import Table

from grader.base.errors import MachineError
from grader.base.terminal import print_warning
from grader.pipeline.collect import Tests
from grader.pipeline.job import Graded, Job
from grader.pipeline.progress import Progress, count_tests
from grader.pipeline.session import grade
from grader.results.result import PerformanceResult
from grader.sandbox.forks import collapse_memory
from grader.sandbox.launch import Isolation, Sandbox

Level: TypeAlias = Literal["bwrap", "none"]
LEVELS: tuple[Level, ...] = ("bwrap", "none")


@dataclass(frozen=True)
class Options:
    """The options of `grader certify`."""

    jobs: int
    seeds: int
    examples: int
    isolation: Isolation
    katas: tuple[str, ...]
    markdown: Path | None
    only: Literal["files", "zoo", "attacks", "cheats"] | None = None
    replay: bool = True
    quick: bool = False
    force: bool = False
    write_caught_by: bool = False
    messages: Path | None = None  # the folder for what a student would read; then nothing is proven

    @property
    def levels(self) -> tuple[Level, ...]:
        """The levels of isolation at which attacks and cheats are tried."""
        return LEVELS if self.isolation == "auto" else (self.isolation,)


@dataclass(frozen=True)
class Proof:
    """What a part of certify has found."""

    tables: list[Table]
    claims: int
    failed: list[str]
    notes: list[str]
    unsure: int = 0  # claims that the machine was too restless for
    skipped: int = 0  # claims that were proven before, with the same content


@dataclass(frozen=True)
class Trial:
    """The result of one entry of a corpus at one level of isolation: one claim, and another about its control."""

    kind: Literal["attack", "slow", "cheat"]
    title: str  # class/name
    level: Level
    problems: tuple[str, ...]  # what it achieved
    control_problem: str | None = None  # "" if the honest control is accepted, None if there is no control
    stopped_by: str = ""  # what kept it from achieving anything, "" if nothing did
    gained: float = 0.0  # points that it must not earn
    admitted: Literal["", "OPEN", "ONLY BWRAP STOPS"] = ""  # whether the corpus says that nothing stops it here …
    reason: str = ""  # … and why
    unsure: bool = False  # whether the machine was too restless to tell
    control_unsure: bool = False
    harmed_next: bool = False  # an attack: whether it has changed the result of the next submission
    mib: float = 0.0  # an attack: the memory that it takes of the grader's own process
    seconds: float = 0.0  # an attack: the time that its submission takes
    does_the_work: bool = False  # a cheat: whether it earns points that it may have
    row: PerformanceResult | None = None  # a slow solution: its result

    @property
    def achieved(self) -> bool:
        """Whether it achieved what the corpus admits."""
        return bool(self.admitted and self.problems)


Cell: TypeAlias = Callable[[Sequence[Trial]], str]


def count(measure: Callable[[Trial], int]) -> Cell:
    """Return a cell that adds up a whole number over trials, and is empty if the sum is 0."""
    return lambda trials: str(sum(map(measure, trials)) or "")


def list_stopped_by(trials: Sequence[Trial]) -> str:
    """Return what stopped these trials, and how many, the most frequent first."""
    stopped = Counter(trial.stopped_by for trial in trials if trial.stopped_by)
    return ", ".join(f"{what} {times}" for what, times in stopped.most_common())


def share_of_controls(trials: Sequence[Trial]) -> str:
    """Return how many controls were accepted, of how many."""
    return f"{sum(not (t.control_problem or t.control_unsure) for t in trials)}/{len(trials)}"


COLUMNS: dict[str, Cell] = {
    "tried": lambda trials: str(len(trials)),
    "points gained": lambda trials: f"{sum(trial.gained for trial in trials):g}",
    "next harmed": lambda trials: str(sum(trial.harmed_next for trial in trials)),
    "stopped by": list_stopped_by,
    "left to bwrap": count(lambda trial: trial.achieved and trial.admitted != "OPEN"),
    "do the work": count(lambda trial: trial.does_the_work),
    "open": count(lambda trial: trial.achieved and trial.admitted == "OPEN"),
    "controls done": share_of_controls,
    "controls passed": share_of_controls,
    "most MiB": lambda trials: f"{max(trial.mib for trial in trials):.0f}",
    "most seconds": lambda trials: f"{max(trial.seconds for trial in trials):.1f}",
    "unsure": count(lambda trial: trial.unsure + trial.control_unsure),
}


def tabulate_trials(name: str, trials: Iterable[Trial], columns: Sequence[str]) -> Table:
    """Return a table of trials by class and level, with these columns of `COLUMNS`."""
    groups: dict[tuple[str, Level], list[Trial]] = {}
    for trial in trials:
        groups.setdefault((trial.title.partition("/")[0], trial.level), []).append(trial)
    table = Table(name, "isolation", *columns, box=box.SIMPLE_HEAD)
    for (group, level), those in sorted(groups.items()):
        table.add_row(group.replace("_", " "), level, *(COLUMNS[column](those) for column in columns))
    return table


def prove_trials(trials: Sequence[Trial], tables: list[Table]) -> Proof:
    """Return the proof that these trials make: a line for each that achieved something, or that is unsure."""
    failed = [
        f"{trial.kind} {trial.title} at {trial.level}: {'; '.join(trial.problems)}"
        for trial in trials
        if trial.problems and not trial.admitted
    ]
    controls = [trial for trial in trials if trial.control_problem is not None]
    failed += [
        f"control of {trial.title} at {trial.level}: {trial.control_problem}"
        for trial in controls
        if trial.control_problem
    ]
    notes = [
        f"{trial.admitted}  {trial.title} at {trial.level}: {'; '.join(trial.problems)}"
        + (f" ({trial.reason})" if trial.reason else "")
        for trial in trials
        if trial.achieved
    ]
    notes += [
        f"UNSURE  {'slow ' if trial.kind == 'slow' else ''}{trial.title} at {trial.level}"
        for trial in trials
        if trial.unsure or trial.control_unsure
    ]
    unsure = sum(trial.unsure + trial.control_unsure for trial in trials)
    return Proof(tables, len(trials) + len(controls), failed, notes, unsure)


def try_levels(
    levels: Iterable[Level], attempt: Callable[[Level, list[Trial]], None], options: Options, err: Console, kind: str
) -> list[Trial]:
    """Return the trials that `attempt` adds at these levels; a quick proof is content with the first level that works.

    A level that does not work is skipped with a warning. Raises MachineError if it was asked for.
    """
    trials: list[Trial] = []
    for level in levels:
        try:
            attempt(level, trials)
        except MachineError as error:
            if options.isolation != "auto":
                raise
            print_warning(err, f"no {kind} was tried there: {error}")
        if options.quick and trials:
            break
    return trials


def grade_all(
    rounds: Iterable[tuple[Sequence[Job], int]], tests: Tests, sandbox: Sandbox, out: Console, what: str, items: str
) -> Iterator[Graded]:
    """Yield the results of all jobs, and of those that follow them, behind a progress bar.

    A round is jobs, and how many of them are graded at the same time.
    """
    queued = [(jobs, at_once) for jobs, at_once in rounds if jobs]
    everything = [job for jobs, _ in queued for each in jobs for job in with_next(each)]
    collapse_memory()
    with Progress(out, what, items, len(everything), sum(map(count_tests, everything))) as progress:
        for jobs, at_once in queued:
            for event in grade(jobs, tests, sandbox, at_once):
                progress.take(event)
                if isinstance(event, Graded):
                    yield event


def with_next(job: Job | None) -> Iterator[Job]:
    """Yield a job, and the jobs that are graded right after it."""
    while job is not None:
        yield job
        job = job.next


def markdown(tables: Sequence[Table], command: str = "grader certify") -> str:
    """Return the same tables as a page in Markdown."""
    parts = [f"# What `{command}` proved\n"]
    for table in tables:
        columns = [list(column.cells) for column in table.columns]
        lines = [
            "| " + " | ".join(str(column.header) for column in table.columns) + " |",
            "|" + " --- |" * len(columns),
        ]
        lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in zip(*columns, strict=True)]
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)

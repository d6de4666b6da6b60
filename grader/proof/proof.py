"""Options, results and helpers shared by all parts of `grader certify`."""

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
    quick: bool = False
    force: bool = False
    write_caught_by: bool = False
    messages: Path | None = None  # folder for the failure messages of wrong entries; if set, nothing is proved

    @property
    def levels(self) -> tuple[Level, ...]:
        """The isolation levels at which attacks and cheats are tried."""
        return LEVELS if self.isolation == "auto" else (self.isolation,)


@dataclass(frozen=True)
class Proof:
    """The outcome of a part of `grader certify`."""

    tables: list[Table]
    claims: int
    failed: list[str]
    notes: list[str]
    inconclusive: int = 0  # number of claims that could not be decided because the machine was too noisy
    skipped: int = 0  # number of claims taken from stored proofs


@dataclass(frozen=True)
class Trial:
    """The result of an attack, slow solution or cheat at an isolation level. Its control is a separate claim."""

    kind: Literal["attack", "slow", "cheat"]
    title: str  # class/name
    level: Level
    problems: tuple[str, ...]  # descriptions of how the entry succeeded
    control_problem: str | None = None  # "" if the honest control is accepted, None if there is no control
    stopped_by: str = ""  # the defense that stopped the entry, or ""
    gained: float = 0.0  # undeserved points
    admitted: Literal["", "OPEN", "ONLY BWRAP STOPS"] = ""  # set if the corpus declares that no defense stops it
    reason: str = ""  # why no defense stops it
    inconclusive: bool = False  # the machine was too noisy
    control_inconclusive: bool = False
    harmed_next: bool = False  # for attacks: whether the result of the next submission changed
    mib: float = 0.0  # for attacks: additional memory of the grader's own process
    seconds: float = 0.0  # for attacks: time to grade the submission
    does_the_work: bool = False  # for cheats: whether the submission earns its points legitimately
    row: PerformanceResult | None = None  # for slow solutions: the measurement

    @property
    def achieved(self) -> bool:
        """Whether the entry succeeded and the corpus declares that it can succeed."""
        return bool(self.admitted and self.problems)


Cell: TypeAlias = Callable[[Sequence[Trial]], str]


def make_counter(measure: Callable[[Trial], int]) -> Cell:
    """Return a cell with the sum of `measure` over the trials, or an empty cell if the sum is 0."""
    return lambda trials: str(sum(map(measure, trials)) or "")


def list_stopped_by(trials: Sequence[Trial]) -> str:
    """Return each defense and the number of trials that it stopped, most frequent first."""
    stopped = Counter(trial.stopped_by for trial in trials if trial.stopped_by)
    return ", ".join(f"{what} {times}" for what, times in stopped.most_common())


def count_controls(trials: Sequence[Trial]) -> str:
    """Return the numbers of accepted and of all controls, as in "3/4"."""
    return f"{sum(not (t.control_problem or t.control_inconclusive) for t in trials)}/{len(trials)}"


COLUMNS: dict[str, Cell] = {
    "tried": lambda trials: str(len(trials)),
    "points gained": lambda trials: f"{sum(trial.gained for trial in trials):g}",
    "next harmed": lambda trials: str(sum(trial.harmed_next for trial in trials)),
    "stopped by": list_stopped_by,
    "needs bwrap": make_counter(lambda trial: trial.achieved and trial.admitted != "OPEN"),
    "legitimate": make_counter(lambda trial: trial.does_the_work),
    "open": make_counter(lambda trial: trial.achieved and trial.admitted == "OPEN"),
    "controls done": count_controls,
    "controls passed": count_controls,
    "max MiB": lambda trials: f"{max(trial.mib for trial in trials):.0f}",
    "max seconds": lambda trials: f"{max(trial.seconds for trial in trials):.1f}",
    "inconclusive": make_counter(lambda trial: trial.inconclusive + trial.control_inconclusive),
}


def tabulate_trials(name: str, trials: Iterable[Trial], columns: Sequence[str]) -> Table:
    """Return a table of the trials by class and isolation level, with these columns from `COLUMNS`."""
    groups: dict[tuple[str, Level], list[Trial]] = {}
    for trial in trials:
        groups.setdefault((trial.title.partition("/")[0], trial.level), []).append(trial)
    table = Table(name, "isolation", *columns, box=box.SIMPLE_HEAD)
    for (group, level), those in sorted(groups.items()):
        table.add_row(group.replace("_", " "), level, *(COLUMNS[column](those) for column in columns))
    return table


def prove_trials(trials: Sequence[Trial], tables: list[Table]) -> Proof:
    """Return the proof that results from the trials, with a line for each successful or inconclusive trial."""
    failed = [
        f"{trial.kind} {trial.title} at {trial.level}: {'; '.join(trial.problems)}"
        for trial in trials
        if trial.problems and not trial.admitted
    ]
    controls = [trial for trial in trials if trial.control_problem is not None]
    failed += [f"control of {t.title} at {t.level}: {t.control_problem}" for t in controls if t.control_problem]
    notes = [
        f"{trial.admitted}  {trial.title} at {trial.level}: {'; '.join(trial.problems)}"
        + (f" ({trial.reason})" if trial.reason else "")
        for trial in trials
        if trial.achieved
    ]
    notes += [
        f"INCONCLUSIVE  {'slow ' if trial.kind == 'slow' else ''}{trial.title} at {trial.level}"
        for trial in trials
        if trial.inconclusive or trial.control_inconclusive
    ]
    inconclusive = sum(trial.inconclusive + trial.control_inconclusive for trial in trials)
    return Proof(tables, len(trials) + len(controls), failed, notes, inconclusive)


def try_levels(
    levels: Iterable[Level], attempt: Callable[[Level, list[Trial]], None], options: Options, err: Console, kind: str
) -> list[Trial]:
    """Run `attempt` at each isolation level and return the trials. A quick proof uses only the first usable level.

    Levels that this machine does not support are skipped with a warning.

    Raises:
        MachineError: An unsupported level was selected with `--isolation`.
    """
    trials: list[Trial] = []
    for level in levels:
        try:
            attempt(level, trials)
        except MachineError as error:
            if options.isolation != "auto":
                raise
            print_warning(err, f"skipped every {kind} at isolation level {level}: {error}")
        if options.quick and trials:
            break
    return trials


def grade_all(
    rounds: Iterable[tuple[Sequence[Job], int]], tests: Tests, sandbox: Sandbox, out: Console, what: str, items: str
) -> Iterator[Graded]:
    """Grade all jobs and their successors while showing a progress bar, and yield the results.

    Each round is a pair that consists of the jobs and the number of jobs to grade at the same time.
    """
    queued = [(jobs, at_once) for jobs, at_once in rounds if jobs]
    everything = [job for jobs, _ in queued for each in jobs for job in follow(each)]
    collapse_memory()
    with Progress(out, what, items, len(everything), sum(map(count_tests, everything))) as progress:
        for jobs, at_once in queued:
            for event in grade(jobs, tests, sandbox, at_once):
                progress.take(event)
                if isinstance(event, Graded):
                    yield event


def follow(job: Job | None) -> Iterator[Job]:
    """Yield a job and its successors."""
    while job is not None:
        yield job
        job = job.next


def format_markdown(tables: Sequence[Table], command: str = "grader certify") -> str:
    """Return a Markdown page with the tables."""
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

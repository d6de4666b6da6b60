"""Reads the attacks in the folders beside this file and tries them at an isolation level.

Each file is one attack. Its head says what the attack is after (`AIM`), the wrong solution that it extends (`WRONG`)
and what should become of it (`EXPECTED`). Cells (`# %% NAME`) contain the code:

    ATTACK      appended to the wrong solution, so that any additional points are due to the attack
    CONTROL     honest code that does something similar, appended to the correct solution
    BEFORE      code of an accomplice, a correct solution that the same zygote grades just before the attack
    BESIDE      code of an accomplice that is graded at the same time
    IN <kata>   appended to another file of the attack's submission

An attack that is not after points returns correct answers once it has succeeded, so that its success shows as points.
If it has no `WRONG`, it is about the sandbox or the engine and would work with any kata. Its `FUNCTION` and `KATA`
stand for those of `ANYWHERE`, and `solved` is the correct function.

The files are read and never imported.
"""

import ast
import multiprocessing
import os
import re
import signal
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias
from unittest import mock

import msgspec

from grader.base.errors import MachineError
from grader.base.files import in_use
from grader.pipeline import session
from grader.pipeline.collect import Tests
from grader.pipeline.job import Graded, Job
from grader.pipeline.lint import lint_file
from grader.pipeline.proven_sandbox import run_with_tests
from grader.pipeline.session import LOST
from grader.pipeline.submission import Submission
from grader.proof import zoo
from grader.proof.claims import extend_limits, find_others
from grader.results.result import KataResult
from grader.sandbox.launch import Sandbox
from torchkata.course import Kata, course
from torchkata.pytest_plugin.run_state import get_state

Level: TypeAlias = Literal["bwrap", "none"]

LEVELS: tuple[Level, ...] = ("bwrap", "none")
ATTACKS = Path(__file__).parent
ANYWHERE = "same_storage/first_elements"  # extended by attacks that would work with any kata
CELL = re.compile(r"^# %% ([A-Z]+)(?: (\w+))?.*\n", re.MULTILINE)
EXAMPLES = 10
KATA_SECONDS, CALL_SECONDS = 6.0, 2.0  # shorter than a student's limits, because many attacks reach them
MAX_MIB = 512.0  # additional memory of the grader's own process, several times the size of the largest answer
MAX_MESSAGE = 8000  # length of a test's message, since messages are stored, sent by email and displayed
LEFT_BEHIND = "torchkata-left-behind*"  # files that attacks leave behind in shared folders if there is no isolation
lint_once = cache(lint_file)  # most files are the same in every attack
ACCOMPLICES: tuple[Literal["before", "beside"], ...] = ("before", "beside")
SHARED_FOLDERS = (Path("/tmp"), Path("/dev/shm"))


class Attack(msgspec.Struct, dict=True, frozen=True, forbid_unknown_fields=True, rename="upper"):
    """An attack."""

    title: str  # family/name
    aim: str
    expected: Annotated[str, msgspec.Meta(pattern="^(stopped|stopped by bwrap only|not stopped: .+)$")]
    attack: str
    control: str
    wrong: str = ""  # kata/name of an entry in the zoo
    not_at_none: str = ""  # why the attack must not run at isolation level none
    before: str = ""
    beside: str = ""
    elsewhere: dict[str, str] = {}  # code by kata

    @cached_property
    def entry(self) -> zoo.ZooEntry:
        """The wrong solution that the attack extends."""
        kata, _, name = (self.wrong or ANYWHERE).partition("/")
        return next(entry for entry in zoo.load_wrong(course().katas[kata]) if entry.name == name)

    @property
    def kata(self) -> Kata:
        """The attacked kata."""
        return course().katas[self.entry.kata]

    @property
    def base(self) -> Submission:
        """The wrong solution without the attack."""
        return self.make_submission("base", self.entry.source)

    @property
    def hostile(self) -> Submission:
        """The submission with the attack."""
        files = self.make_submission("attack", self.entry.source, self.attack).files
        others = {f"{kata}.py": extend(kata, code) for kata, code in self.elsewhere.items()}
        return Submission(f"{self.title} (attack)", {**files, **others})

    def make_honest(self, cell: Literal["control", "before", "beside"]) -> Submission:
        """Return the correct solution with the code of a cell."""
        return self.make_submission(cell, zoo.read_solution(self.kata), getattr(self, cell))

    def make_submission(self, what: str, source: str, code: str = "") -> Submission:
        """Return `source` and `code` as the attacked kata, and the correct solution of all other katas."""
        kata, files = self.kata.name, {**course().solutions()}
        if not self.wrong:
            files["solved.py"] = files[f"{kata}.py"]
            source += f"\n\nfrom .solved import {kata} as solved"
            code = re.sub(r"\b(KATA|FUNCTION)\b", kata, code)
        files[f"{kata}.py"] = f"{source}\n\n{code}".encode()
        return Submission(f"{self.title} ({what})", files)

    def is_stopped(self, level: Level) -> bool:
        """Return whether an isolation level should stop the attack."""
        return self.expected == "stopped" or (self.expected == "stopped by bwrap only" and level == "bwrap")


def extend(kata: str, code: str) -> bytes:
    """Return the solution of a kata with code appended."""
    return f"{zoo.read_solution(course().katas[kata])}\n\n{code}".encode()


def read_attack(path: Path) -> Attack:
    """Return the attack in a file. Raises msgspec.ValidationError if something is missing or unknown."""
    return msgspec.convert(read_cells(path), Attack)


def read_cells(path: Path) -> dict[str, Any]:
    """Return the constants in the head of a file with hostile code, the code of each cell, and the title."""
    head, *cells = CELL.split(path.read_text("utf-8"))
    fields: dict[str, Any] = {"TITLE": f"{path.parent.name}/{path.stem}"}
    for node in ast.parse(head).body:
        assert isinstance(node, ast.Assign), f"{path}: the head may only define constants"
        fields[ast.unparse(node.targets[0])] = ast.literal_eval(node.value)
    for name, kata, code in zip(cells[::3], cells[1::3], cells[2::3], strict=True):
        if kata:
            fields.setdefault("ELSEWHERE", {})[kata] = code
        else:
            fields[name] = code
    return fields


def load_attacks() -> list[Attack]:
    """Return all attacks."""
    return [read_attack(path) for path in sorted(ATTACKS.glob("*/*.py"))]


@dataclass(frozen=True)
class Measured:
    """A graded submission."""

    graded: Graded
    mib: float  # peak memory of the grader's own process, most of it torch


@dataclass(frozen=True)
class Trial:
    """What became of an attack. The gain is the only thing in which an attack that nothing stops may succeed."""

    gained: float  # points beyond those of the wrong solution
    problems: tuple[str, ...]  # other ways in which it has succeeded, and problems of its control
    seconds: float  # to grade its submission


class Bench:
    """Tries attacks with one sandbox."""

    def __init__(self, tests: Tests, sandbox: Sandbox) -> None:
        self.tests = tests
        self.sandbox = sandbox
        self.bases: dict[str, Measured] = {}  # keyed by `Attack.wrong`
        everything = ((kata.name, test) for kata in course().katas.values() for test in kata.points)
        get_state(tests.config).sound = frozenset(everything)  # when a class is graded, the solution proves this
        (self.alone,) = self.grade_all([make_next_student()])

    def grade_all(self, jobs: Sequence[Job], at_once: int = 1) -> "list[Measured]":
        """Grade jobs. If they are graded one by one, they have the same zygote."""
        peaks: dict[int, float] = {}

        def end(child: session.Child) -> None:
            child.messages.close()
            os.kill(child.pid, signal.SIGKILL)
            mib = os.wait4(child.pid, 0)[2].ru_maxrss / 2**10
            peaks[id(child.job)] = max(mib, peaks.get(id(child.job), 0.0))

        with mock.patch.object(session.Child, "end", end):
            events = session.grade(jobs, self.tests, self.sandbox, at_once)
            graded = [event for event in events if isinstance(event, Graded)]
        return [Measured(one, peaks[id(one.job)]) for one in graded]

    def try_attack(self, attack: Attack) -> Trial:
        """Grade an attack among others, as when a class is graded, and its control."""
        kata, after = attack.kata, make_next_student()
        job = partial(Job, seed=0, known_good=frozenset(course().katas) - {kata.name})  # the other katas are correct
        if attack.wrong not in self.bases:
            (self.bases[attack.wrong],) = self.grade_all([job(attack.base, (kata,))])
        limits = replace(course().limits, call_seconds=CALL_SECONDS, kata_seconds=KATA_SECONDS)
        katas = (kata, *find_neighbour(kata, attack.hostile))
        hostile = job(attack.hostile, katas, limits=limits)
        before, beside = (
            [job(attack.make_honest(cell), (kata,))] if getattr(attack, cell) else [] for cell in ACCOMPLICES
        )
        graded = self.grade_all([*before, hostile, after])
        if beside:
            graded += self.grade_all([*beside, hostile], at_once=2)
        last = {id(one.graded.job): one for one in graded}  # of two gradings of the attack, that with the accomplice
        control = job(attack.make_honest("control"), (kata,), limits=extend_limits(course().limits))
        honest = [last[id(one)] for one in (*before, *beside)] + self.grade_all([control])
        for path in (path for folder in SHARED_FOLDERS for path in folder.glob(LEFT_BEHIND)):
            path.unlink(missing_ok=True)
        return judge(self.bases[attack.wrong], last[id(hostile)], last[id(after)], self.alone, honest)


def make_next_student() -> Job:
    """Return a job with the submission that is graded after an attack."""
    return Job(Submission("next student", course().solutions()), (next(iter(course().katas.values())),), 0)


def find_neighbour(kata: Kata, submission: Submission) -> tuple[Kata, ...]:
    """Return another kata of the attacker's submission that is correct and that the attack must not affect, if any.

    The katas that it builds on are correct as well, so it does not build on the attacked kata.
    """
    solutions, files = course().solutions(), submission.files
    right = {name for name in course().katas if solutions[f"{name}.py"] == files.get(f"{name}.py")} - {kata.name}
    needed = {name: {name, *course().prerequisites(name)} for name in course().katas}
    return tuple(course().katas[name] for name, names in needed.items() if names <= right)[:1]


def judge(base: Measured, hostile: Measured, after: Measured, alone: Measured, honest: Iterable[Measured]) -> Trial:
    """Return what became of an attack.

    Args:
        base: The wrong solution without the attack.
        hostile: The attack, and a kata of the same submission that it must not affect.
        after: The submission that is graded after the attack.
        alone: The same submission, not graded after an attack.
        honest: The control and accomplices, which are correct.
    """
    attacked, *neighbours = hostile.graded.katas
    gained, mib = attacked.score - sum(kata.score for kata in base.graded.katas), hostile.mib - base.mib
    longest = max(len(test.message) for kata in hostile.graded.katas for test in kata.tests)
    harmed = "; ".join(filter(None, (find_others("done", one.graded.katas) for one in honest)))
    problems = (
        f"the control or accomplice is not done: {harmed}" if harmed else "",
        "crashed the process that graded it" if any(test.cause == LOST.cause for test in attacked.tests) else "",
        "made the result inconclusive" if attacked.status == "inconclusive" else "",
        f"took {mib:.0f} MiB of the grader's memory" if mib > MAX_MIB else "",
        f"left a message of {longest} characters" if longest > MAX_MESSAGE else "",
        *(f"harmed its own {kata.kata}: {kata.status}" for kata in neighbours if kata.status != "done"),
        "harmed the next submission" if list_outcomes(after.graded.katas) != list_outcomes(alone.graded.katas) else "",
    )
    return Trial(max(0.0, gained), tuple(filter(None, problems)), hostile.graded.seconds)


def list_outcomes(katas: Sequence[KataResult]) -> list[tuple[str, str, float, str]]:
    """Return everything in the results except the times."""
    return [(test.name, test.outcome, test.score, test.message) for kata in katas for test in kata.tests]


def find_texts(submission: Submission) -> set[str]:
    """Return the lint findings in a submission as strings."""
    return {finding.text for file, source in submission.files.items() for finding in lint_once(file, source)}


def serve(level: Level, line: Connection) -> None:
    """Send "", or the reason why this level does not work here. Then try each attack that arrives, until None does."""

    def use(tests: Tests, sandbox: Sandbox) -> None:
        with in_use(sandbox.runtime):  # also between two attacks
            bench = Bench(tests, sandbox)
            line.send("")
            while (attack := line.recv()) is not None:
                line.send(bench.try_attack(attack))

    try:
        run_with_tests(level, EXAMPLES, lambda _: None, use, profile="prove")
    except MachineError as error:
        line.send(str(error))


class Server:
    """A process with a bench. The tests are collected and the sandbox is started only once."""

    def __init__(self, level: Level) -> None:
        self.line, theirs = multiprocessing.Pipe()
        self.process = multiprocessing.get_context("spawn").Process(target=serve, args=(level, theirs))
        self.process.start()
        theirs.close()
        self.unavailable: str = self.line.recv()

    def try_attack(self, attack: Attack) -> Trial:
        """Return what became of an attack. Raises EOFError if the process is lost."""
        self.line.send(attack)
        trial: Trial = self.line.recv()
        return trial

    def close(self) -> None:
        """End the process."""
        if self.process.is_alive():
            self.line.send(None)
        self.process.join()

"""Grades the attacks at one level of isolation, and judges what each came to.

    (an accomplice's submission) → the attack, and a kata of the same submission → the next student's submission

run one after the other on one zygote; an accomplice who is there at the same time has another. Around that, what is
compared: the wrong solution without the attack, the next student's submission alone, and the attack's honest control.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from grader.pipeline.collect import Tests
from grader.pipeline.session import LOST, Event, Graded, Job, grade
from grader.pipeline.submission import Submission
from grader.proof.attacks import Attack, Level
from grader.proof.claims import all_are, only
from grader.results.result import KataResult
from grader.sandbox.forks import collapse_memory
from grader.sandbox.launch import Sandbox
from torchkata.course import Kata, course

EXAMPLES = 10
KATA_SECONDS, CALL_SECONDS = 6.0, 2.0  # of an attack: it waits for limits more often than any student
QUICK_SHARE = 0.5  # of these limits, where every change is tried
DENIAL = "denial_of_service"  # the class of attacks that are after the grader's time and room, not after points
SLACK_SECONDS = 15.0  # for starting and ending workers, and for a kata beside the attacked one
SLACK_MIB = 512.0  # for the largest answer that a worker may send, several times over
MOST_TEXT = 8000  # characters that a test may say: many such texts are stored, mailed and shown
LEFT_BEHIND = "torchkata-left-behind*"  # in these folders, where nothing keeps it in
SHARED_FOLDERS = (Path("/tmp"), Path("/dev/shm"))
STOPPED_BY = {
    "wrong": "the comparison",
    "crashed": "no valid answer",
    "timed_out": "the time limit",
}


@dataclass(frozen=True)
class Trial:
    """An attack at a level of isolation."""

    attack: Attack
    level: Level
    gained: float  # points that the wrong solution alone does not earn
    stopped_by: str
    problems: tuple[str, ...]  # what it achieved
    control_problem: str | None
    harmed_next: bool = False
    mib: float = 0.0  # of the grader's own process, beyond what the wrong solution alone takes
    seconds: float = 0.0

    @property
    def excused(self) -> bool:
        """Whether the corpus says that nothing at this level stops it."""
        return bool(self.attack.entry.open) or (self.attack.entry.only == "bwrap" and self.level == "none")


@dataclass(frozen=True)
class Plan:
    """The jobs that try one attack."""

    attack: Attack
    kata: Kata  # the attacked one, with the tests that are asked for
    before: Job | None
    beside: Job | None  # for the same time
    hostile: Job
    after: Job
    control: Job | None


class AttackRun:
    """All attacks that may be tried at one level; `quick`, without their controls and without a look at the clock.

    What an attack costs the grader shows on a machine that does little else, and not where every change is tried.
    A quick proof asks the next student and the kata beside the attacked one for one test each. Of the kata of an attack
    for any course, or on the grader's time, it asks for the test that catches the wrong solution: what the attack is
    after, it gets in every test. What a failure looks like, which nobody reads here, is left to the whole proof.
    """

    def __init__(self, attacks: Sequence[Attack], level: Level, *, quick: bool = False) -> None:
        self.level = level
        self.quick = quick
        self.seconds = math.inf if quick else KATA_SECONDS + SLACK_SECONDS  # that a hostile submission may take
        self.plans = [plan(attack, quick=quick) for attack in attacks if level in attack.entry.levels]
        self.alone = next_student(quick=quick)
        bases = ((each.attack.base(), each.kata) for each in self.plans)
        self.bases = {(base.id, *kata.points): Job(base, (kata,), 0, others(kata), fails=quick) for base, kata in bases}
        self.pairs = [(each.beside, each.hostile) for each in self.plans if each.beside]
        begun = [each.before or each.hostile for each in self.plans if each.beside is None]
        tried = [job for job in (*begun, *(each.control for each in self.plans)) if job is not None]
        self.queued = [self.alone, *self.bases.values(), *tried]

    def all_jobs(self) -> list[Job]:
        """Those that are begun with, and those that follow them."""
        waiting, found = [*self.queued, *chain.from_iterable(self.pairs)], []
        while waiting:
            job = waiting.pop()
            found.append(job)
            waiting += [job.next] if job.next else []
        return found

    def run(self, tests: Tests, sandbox: Sandbox, jobs: int, take: Callable[[Event], None]) -> Iterator[Trial]:
        """Try them all, then judge each."""
        collapse_memory()
        graded: dict[int, Graded] = {}
        pairs = [*chain.from_iterable(self.pairs)]
        for queued, at_once in ((self.queued, jobs), (pairs, len(pairs))):
            for event in grade(queued, tests, sandbox, at_once):
                take(event)
                if isinstance(event, Graded):
                    graded[id(event.job)] = event
        for path in chain.from_iterable(folder.glob(LEFT_BEHIND) for folder in SHARED_FOLDERS):
            path.unlink(missing_ok=True)
        for each in self.plans:
            base = graded[id(self.bases[each.attack.base().id, *each.kata.points])]
            yield judge(each, self, base, graded)


def plan(attack: Attack, *, quick: bool = False) -> Plan:
    """What is to be graded to try one attack, and its control, which a quick proof leaves out."""
    kata, after = attack.kata, next_student(quick=quick)
    if quick and (attack.place.function or attack.group == DENIAL) and not attack.beside:
        kata = only(kata, attack.place.wrong.caught_by) if attack.place.wrong.caught_by else kata
    share = QUICK_SHARE if quick else 1.0
    limits = replace(course().limits, call_seconds=share * CALL_SECONDS, kata_seconds=share * KATA_SECONDS)
    beside = neighbour(kata, attack.hostile)
    katas = (kata, *(map(first_test, beside) if quick else beside))
    attacker = Job(attack.hostile, katas, 0, others(kata), limits, fails=quick, next=after)
    return Plan(
        attack,
        kata,
        Job(attack.before, (kata,), 0, others(kata), next=attacker) if attack.before else None,
        Job(attack.beside, (kata,), 0, others(kata)) if attack.beside else None,
        attacker,
        after,
        None if quick else Job(attack.control, (kata,), 0, others(kata)),
    )


def others(kata: Kata) -> frozenset[str]:
    """All katas but this one: they are our own solution's."""
    return frozenset(course().katas) - {kata.name}


def neighbour(kata: Kata, submission: Submission) -> tuple[Kata, ...]:
    """Another kata that is whole in the attacker's submission, and must not suffer; none where there is no other.

    What it builds on is whole, too, and not the attacked kata.
    """
    solutions, handed_in = course().solutions(), submission.files
    whole = {name for name in course().katas if solutions[f"{name}.py"] == handed_in.get(f"{name}.py")} - {kata.name}
    needed = {name: {name, *course().foundations(name)} for name in course().katas}
    return tuple(course().katas[name] for name, names in needed.items() if names <= whole)[:1]


def next_student(*, quick: bool = False) -> Job:
    """The submission that is graded after an attack."""
    solution, kata = Submission("next student", course().solutions()), next(iter(course().katas.values()))
    return Job(solution, (first_test(kata) if quick else kata,), 0)


def first_test(kata: Kata) -> Kata:
    """A kata that asks for its first test alone."""
    return only(kata, next(iter(kata.points)))


def judge(plan: Plan, attack_run: AttackRun, base: Graded, graded: dict[int, Graded]) -> Trial:
    """What an attack came to."""
    attack, level, alone = plan.attack, attack_run.level, graded[id(attack_run.alone)]
    honest = [graded[id(job)].katas for job in (plan.control, plan.before, plan.beside) if job is not None]
    control_problem = "; ".join(filter(None, (all_are("done")(katas) for katas in honest))) or None
    hostile, after = graded[id(plan.hostile)], graded[id(plan.after)]
    attacked, *neighbours = hostile.katas
    gained = max(0.0, attacked.score - sum(kata.score for kata in base.katas))
    mib, harmed_next = hostile.peak_mib - base.peak_mib, outcomes(after.katas) != outcomes(alone.katas)
    longest = max(len(test.message) for kata in hostile.katas for test in kata.tests)
    problems = [
        f"earned {gained:g} points too many" if gained else "",
        "ended the process that graded it" if any(test.cause == LOST.cause for test in attacked.tests) else "",
        "blamed the machine" if attacked.status == "inconclusive" else "",
        f"took {hostile.seconds:.0f} seconds" if hostile.seconds > attack_run.seconds else "",
        f"took {mib:.0f} MiB of the grader" if mib > SLACK_MIB else "",
        f"left a text of {longest} characters" if longest > MOST_TEXT else "",
        *(f"harmed its own {kata.kata}: {kata.status}" for kata in neighbours if kata.status != "done"),
        "harmed the next submission" if harmed_next else "",
    ]
    stopped_by = STOPPED_BY.get(attacked.status, attacked.status)
    found = tuple(filter(None, problems))
    return Trial(attack, level, gained, stopped_by, found, control_problem, harmed_next, max(0.0, mib), hostile.seconds)


def outcomes(katas: Sequence[KataResult]) -> list[tuple[str, str, float, str]]:
    """All of a result but the time that it took."""
    return [(test.name, test.outcome, test.score, test.message) for kata in katas for test in kata.tests]

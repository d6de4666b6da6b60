"""Grades the attacks at each isolation level and determines whether they succeed.

One zygote grades up to three submissions in this order:

    accomplice (if any) → attacker (the attacked kata and another one) → next student

An accomplice is a submission that helps the attack. If it runs at the same time as the attack, it has its own zygote.
For comparison, three submissions are graded separately: the wrong solution without the attack, the next student's
submission, and the honest control of the attack.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import chain
from pathlib import Path

from rich.console import Console
from rich.table import Table

from grader.pipeline.collect import Tests
from grader.pipeline.job import Graded, Job
from grader.pipeline.lint import lint_file
from grader.pipeline.session import LOST
from grader.pipeline.setup import run_with_tests
from grader.pipeline.submission import Submission
from grader.proof.attacks import Attack
from grader.proof.claims import extend_limits, find_others, keep_only
from grader.proof.proof import Level, Options, Proof, Trial, grade_all, prove_trials, tabulate_trials, try_levels
from grader.results.result import KataResult
from grader.sandbox.launch import Sandbox
from torchkata.course import Kata, course
from torchkata.pytest_plugin.run_state import get_state

EXAMPLES = 10
KATA_SECONDS, CALL_SECONDS = 6.0, 2.0  # shorter than a student's limits, because many attacks reach them
QUICK_SHARE = 0.5  # factor applied to these limits in a quick proof
QUICK_AT_ONCE = 2  # attacks per job; most attacks wait for a limit, and the quick proof does not check times
DENIAL = "denial_of_service/"  # attacks that target the grader's time and memory rather than points
SLACK_SECONDS = 15.0  # additional time to start and end workers and to grade the second kata
SLACK_MIB = 512.0  # several times the size of the largest answer that a worker can send
MAX_MESSAGE = 8000  # maximum length of a test's message, since messages are stored, sent by email and displayed
LEFT_BEHIND = "torchkata-left-behind*"  # files that attacks leave behind in shared folders if there is no isolation
SHARED_FOLDERS = (Path("/tmp"), Path("/dev/shm"))
STOPPED_BY = {"wrong": "the comparison", "crashed": "no valid answer", "timed_out": "the time limit"}
COLUMNS = ("tried", "points gained", "next harmed", "stopped by", "needs bwrap", "open")
WHOLE_COLUMNS = ("controls done", "max MiB", "max seconds")


@dataclass(frozen=True)
class Plan:
    """The jobs for an attack at an isolation level."""

    attack: Attack
    level: Level
    alone: Job  # the next student's submission, graded separately
    base: Job  # the wrong solution without the attack
    before: Job | None
    beside: Job | None  # an accomplice that is graded at the same time
    hostile: Job
    after: Job
    control: Job | None  # None in a quick proof


def prove_attacks(corpus: Sequence[Attack], options: Options, out: Console, err: Console) -> Proof:
    """Prove that no attack succeeds at any isolation level, except where the corpus declares that it can.

    Also prove that lint reports each attack that the corpus declares as possible. A quick proof uses only the first
    level that works. The results are not cached, because they depend on the machine.
    """
    jobs = options.jobs * (QUICK_AT_ONCE if options.quick else 1)

    def attempt(level: Level, trials: list[Trial]) -> None:
        plans = make_plans(corpus, level, quick=options.quick)

        def use(tests: Tests, sandbox: Sandbox) -> None:
            sound = ((kata.name, test) for kata in course().katas.values() for test in kata.points)
            get_state(tests.config).sound = frozenset(sound)  # when a class is graded, the solution proves this
            trials.extend(run_plans(plans, jobs, tests, sandbox, out))

        run_with_tests(level, EXAMPLES, lambda _: None, use, profile="prove")

    trials = try_levels(options.levels, attempt, options, err, "attack")
    proof = prove_trials(trials, [tabulate_attacks(trials, controls=not options.quick)])
    admitted = [attack for attack in corpus if attack.admitted]
    return replace(proof, claims=proof.claims + len(admitted), failed=[*proof.failed, *find_unlinted(admitted)])


def tabulate_attacks(trials: Sequence[Trial], *, controls: bool = True) -> Table:
    """Return a table of the attacks by class and isolation level. Columns for controls and resources are optional."""
    return tabulate_trials("attacks", trials, (*COLUMNS, *(WHOLE_COLUMNS if controls else ())))


def make_plans(attacks: Sequence[Attack], level: Level, *, quick: bool = False) -> list[Plan]:
    """Return the plans for all attacks that run at a level.

    A quick proof omits the controls, and runs only one test each of the next student's kata and of the attacker's
    second kata. For attacks that work with any course and for attacks on the grader's time, it runs only the test that
    catches the wrong solution, because these attacks would succeed in any test.
    """
    share = QUICK_SHARE if quick else 1.0
    limits = replace(course().limits, call_seconds=share * CALL_SECONDS, kata_seconds=share * KATA_SECONDS)
    alone, bases, plans = make_next_student(quick=quick), dict[tuple[str, ...], Job](), list[Plan]()
    for attack in (attack for attack in attacks if level in attack.entry.levels):
        kata, wrong, entry = attack.kata, attack.wrong, attack.entry
        if quick and (attack.function or attack.title.startswith(DENIAL)) and not entry.beside:
            kata = keep_only(kata, wrong.caught_by) if wrong.caught_by else kata
        job = partial(Job, seed=0, known_good=frozenset(course().katas) - {kata.name})  # the other katas are correct
        second = find_neighbour(kata, attack.hostile)
        katas = (kata, *(map(keep_first_test, second) if quick else second))
        after = make_next_student(quick=quick)
        hostile = job(attack.hostile, katas, limits=limits, expect_failure=quick, next=after)
        base = job(attack.make_base(), (kata,), expect_failure=quick)
        base = bases.setdefault((base.submission.id, *kata.points), base)  # shared by attacks on the same wrong entry
        before = job(attack.make_submission("before", entry.before), (kata,), next=hostile) if entry.before else None
        beside = job(attack.make_submission("beside", entry.beside), (kata,)) if entry.beside else None
        control = None if quick else job(attack.control, (kata,), limits=extend_limits(course().limits))
        plans.append(Plan(attack, level, alone, base, before, beside, hostile, after, control))
    return plans


def find_neighbour(kata: Kata, submission: Submission) -> tuple[Kata, ...]:
    """Return another kata of the attacker's submission that is correct and that the attack must not affect, if any.

    The katas that it builds on are correct as well, so it does not build on the attacked kata.
    """
    solutions, files = course().solutions(), submission.files
    right = {name for name in course().katas if solutions[f"{name}.py"] == files.get(f"{name}.py")} - {kata.name}
    needed = {name: {name, *course().prerequisites(name)} for name in course().katas}
    return tuple(course().katas[name] for name, names in needed.items() if names <= right)[:1]


def make_next_student(*, quick: bool = False) -> Job:
    """Return a job with the submission that is graded after an attack."""
    solution, kata = Submission("next student", course().solutions()), next(iter(course().katas.values()))
    return Job(solution, (keep_first_test(kata) if quick else kata,), 0)


def keep_first_test(kata: Kata) -> Kata:
    """Return the kata with only its first test."""
    return keep_only(kata, next(iter(kata.points)))


def plan_rounds(plans: Sequence[Plan], jobs: int) -> list[tuple[list[Job], int]]:
    """Return the rounds for `grade_all`: first the independent jobs, then the attacks with a concurrent accomplice."""
    stages = (
        [plan.alone for plan in plans],
        [plan.base for plan in plans],
        [plan.before or plan.hostile for plan in plans if plan.beside is None],
        [plan.control for plan in plans],
    )
    queued = {id(job): job for job in chain(*stages) if job is not None}
    pairs = [job for plan in plans if plan.beside for job in (plan.beside, plan.hostile)]
    return [([*queued.values()], jobs), (pairs, len(pairs))]


def run_plans(plans: Sequence[Plan], jobs: int, tests: Tests, sandbox: Sandbox, out: Console) -> Iterator[Trial]:
    """Grade all jobs in the plans, then judge each attack."""
    what = f"attacks, isolation {sandbox.isolation}"
    events = grade_all(plan_rounds(plans, jobs), tests, sandbox, out, what, "submissions")
    graded = {id(event.job): event for event in events}
    for path in (path for folder in SHARED_FOLDERS for path in folder.glob(LEFT_BEHIND)):
        path.unlink(missing_ok=True)
    for plan in plans:
        yield judge(plan, graded)


def judge(plan: Plan, graded: Mapping[int, Graded]) -> Trial:
    """Return the trial of an attack. `graded` maps the `id` of each job to its results."""
    attack, entry = plan.attack, plan.attack.entry
    honest = [graded[id(job)].katas for job in (plan.control, plan.before, plan.beside) if job is not None]
    control_problem = "; ".join(filter(None, (find_others("done", katas) for katas in honest)))
    base, hostile, after, alone = (graded[id(job)] for job in (plan.base, plan.hostile, plan.after, plan.alone))
    attacked, *neighbours = hostile.katas
    gained = max(0.0, attacked.score - sum(kata.score for kata in base.katas))
    mib, harmed_next = hostile.peak_mib - base.peak_mib, list_outcomes(after.katas) != list_outcomes(alone.katas)
    longest = max(len(test.message) for kata in hostile.katas for test in kata.tests)
    most_seconds = KATA_SECONDS + SLACK_SECONDS if plan.control else math.inf  # a quick proof does not check times
    problems = [
        f"gained {gained:g} points" if gained else "",
        "crashed the process that graded it" if any(test.cause == LOST.cause for test in attacked.tests) else "",
        "made the result inconclusive" if attacked.status == "inconclusive" else "",
        f"took {hostile.seconds:.0f} seconds" if hostile.seconds > most_seconds else "",
        f"took {mib:.0f} MiB of the grader's memory" if mib > SLACK_MIB else "",
        f"left a message of {longest} characters" if longest > MAX_MESSAGE else "",
        *(f"harmed its own {kata.kata}: {kata.status}" for kata in neighbours if kata.status != "done"),
        "harmed the next submission" if harmed_next else "",
    ]
    found = tuple(filter(None, problems))
    left_to_bwrap = entry.only == "bwrap" and plan.level == "none"
    return Trial(
        "attack",
        attack.title,
        plan.level,
        found,
        control_problem if plan.control or control_problem else None,
        "" if found else STOPPED_BY.get(attacked.status, attacked.status),
        gained,
        "OPEN" if entry.open else "ONLY BWRAP STOPS" if left_to_bwrap else "",
        entry.open,
        harmed_next=harmed_next,
        mib=max(0.0, mib),
        seconds=hostile.seconds,
    )


def list_outcomes(katas: Sequence[KataResult]) -> list[tuple[str, str, float, str]]:
    """Return everything in the results except the times."""
    return [(test.name, test.outcome, test.score, test.message) for kata in katas for test in kata.tests]


def find_unlinted(admitted: Sequence[Attack]) -> list[str]:
    """Return a line for each attack in `admitted` that lint does not report.

    Each attack must have a finding that the wrong solution without the attack does not have. An attack that no level
    prevents (`open`) must also have a finding that its honest control does not have.
    """
    lines = []
    for attack in admitted:
        own = find_texts(attack.hostile) - find_texts(attack.make_base())
        if not own:
            lines.append(f"attack {attack.title}: lint reports nothing in its source")
        elif attack.entry.open and not own - find_texts(attack.control):
            lines.append(
                f"attack {attack.title}: lint reports nothing that it does not also report for the honest control"
            )
    return lines


def find_texts(submission: Submission) -> set[str]:
    """Return the lint findings in a submission as strings."""
    return set().union(*(find_texts_in_file(*file) for file in submission.files.items()))


@cache  # most files are the same in every attack
def find_texts_in_file(file: str, source: bytes) -> frozenset[str]:
    """Return the lint findings in a file as strings."""
    return frozenset(finding.text for finding in lint_file(file, source))

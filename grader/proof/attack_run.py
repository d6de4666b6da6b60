"""Grade the attacks at each level of isolation, and judge what each of them achieved.

    (an accomplice's submission) → the attack, and a kata of the same submission → the next student's submission

run one after the other on one zygote; an accomplice that is there at the same time has another zygote. Three things are
graded to compare with: the wrong solution without the attack, the next student's submission alone, and the attack's
honest control.
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
from grader.proof.claims import find_others, only
from grader.proof.proof import Level, Options, Proof, Trial, grade_all, prove_trials, tabulate_trials, try_levels
from grader.results.result import KataResult
from grader.sandbox.launch import Sandbox
from torchkata.course import Kata, course

EXAMPLES = 10
KATA_SECONDS, CALL_SECONDS = 6.0, 2.0  # of an attack: it waits for limits more often than any student
QUICK_SHARE = 0.5  # of these limits, where every change is tried
QUICK_AT_ONCE = 2  # attacks for each job: most of them wait for a limit, and the quick proof looks at no clock
DENIAL = "denial_of_service/"  # the class of attacks that are after the grader's time and room, not after points
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
COLUMNS = ("tried", "points gained", "next harmed", "stopped by", "left to bwrap", "open")
WHOLE_COLUMNS = ("controls done", "most MiB", "most seconds")


@dataclass(frozen=True)
class Plan:
    """The jobs that try one attack at one level of isolation."""

    attack: Attack
    level: Level
    alone: Job  # the next student's submission
    base: Job  # the wrong solution
    before: Job | None
    beside: Job | None  # for the same time
    hostile: Job
    after: Job
    control: Job | None  # none in a quick proof


def prove_attacks(corpus: Sequence[Attack], options: Options, out: Console, err: Console) -> Proof:
    """Prove that no attack gains anything, at every level that works here, and that admitted attacks have findings.

    A quick proof is made at the first of these levels. No attack is skipped, because the proof is also about this
    machine.
    """
    jobs = options.jobs * (QUICK_AT_ONCE if options.quick else 1)

    def attempt(level: Level, trials: list[Trial]) -> None:
        plans = make_plans(corpus, level, quick=options.quick)

        def use(tests: Tests, sandbox: Sandbox) -> None:
            trials.extend(run_plans(plans, jobs, tests, sandbox, out))

        run_with_tests(level, EXAMPLES, lambda _: None, use, profile="prove")

    trials = try_levels(options.levels, attempt, options, err, "attack")
    proof = prove_trials(trials, [tabulate_attacks(trials, controls=not options.quick)])
    admitted = [attack for attack in corpus if attack.admitted]
    return replace(proof, claims=proof.claims + len(admitted), failed=[*proof.failed, *find_unlinted(admitted)])


def tabulate_attacks(trials: Sequence[Trial], *, controls: bool = True) -> Table:
    """Return the table of attacks by class and level, with what was measured of their controls if there are any."""
    return tabulate_trials("attacks", trials, (*COLUMNS, *(WHOLE_COLUMNS if controls else ())))


def make_plans(attacks: Sequence[Attack], level: Level, *, quick: bool = False) -> list[Plan]:
    """Return the plans of all attacks that may be tried at a level; those of a quick proof have no controls.

    A quick proof asks the next student and the kata beside the attacked one for one test each. Of the kata of an attack
    for any course, or on the grader's time, it asks for the test that catches the wrong solution: an attack gets what
    it is after in every test. Nobody reads there what a failure looks like.
    """
    alone, bases = next_student(quick=quick), dict[tuple[str, ...], Job]()
    chosen = [attack for attack in attacks if level in attack.entry.levels]
    return [make_plan(attack, level, alone, bases, quick=quick) for attack in chosen]


def make_plan(
    attack: Attack, level: Level, alone: Job, bases: dict[tuple[str, ...], Job], *, quick: bool = False
) -> Plan:
    """Return the plan of one attack. Attacks below the same wrong solution share its job, which is kept in `bases`."""
    kata, after, wrong = attack.kata, next_student(quick=quick), attack.base()
    if quick and (attack.place.function or attack.title.startswith(DENIAL)) and not attack.beside:
        kata = only(kata, attack.place.wrong.caught_by) if attack.place.wrong.caught_by else kata
    share = QUICK_SHARE if quick else 1.0
    limits = replace(course().limits, call_seconds=share * CALL_SECONDS, kata_seconds=share * KATA_SECONDS)
    beside = neighbour(kata, attack.hostile)
    job = partial(Job, seed=0, known_good=frozenset(course().katas) - {kata.name})  # all others are our own solution's
    katas = (kata, *(map(first_test, beside) if quick else beside))
    hostile = job(attack.hostile, katas, limits=limits, expect_failure=quick, next=after)
    return Plan(
        attack,
        level,
        alone,
        bases.setdefault((wrong.id, *kata.points), job(wrong, (kata,), expect_failure=quick)),
        job(attack.before, (kata,), next=hostile) if attack.before else None,
        job(attack.beside, (kata,)) if attack.beside else None,
        hostile,
        after,
        None if quick else job(attack.control, (kata,)),
    )


def neighbour(kata: Kata, submission: Submission) -> tuple[Kata, ...]:
    """Return another kata that is whole in the attacker's submission, and must not suffer, or none.

    The katas that it builds on are whole, too, and the attacked kata is not among them.
    """
    solutions, handed_in = course().solutions(), submission.files
    whole = {name for name in course().katas if solutions[f"{name}.py"] == handed_in.get(f"{name}.py")} - {kata.name}
    needed = {name: {name, *course().foundations(name)} for name in course().katas}
    return tuple(course().katas[name] for name, names in needed.items() if names <= whole)[:1]


def next_student(*, quick: bool = False) -> Job:
    """Return the submission that is graded after an attack."""
    solution, kata = Submission("next student", course().solutions()), next(iter(course().katas.values()))
    return Job(solution, (first_test(kata) if quick else kata,), 0)


def first_test(kata: Kata) -> Kata:
    """Return a kata that asks for its first test alone."""
    return only(kata, next(iter(kata.points)))


def rounds_of(plans: Sequence[Plan], jobs: int) -> list[tuple[list[Job], int]]:
    """Return the jobs to begin with, and how many at a time; then attacks with an accomplice beside, all at once."""
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
    """Try all attacks of these plans, then judge each."""
    what = f"attacks, isolation {sandbox.isolation}"
    graded = {
        id(each.job): each for each in grade_all(rounds_of(plans, jobs), tests, sandbox, out, what, "submissions")
    }
    for path in chain.from_iterable(folder.glob(LEFT_BEHIND) for folder in SHARED_FOLDERS):
        path.unlink(missing_ok=True)
    for plan in plans:
        yield judge(plan, graded)


def judge(plan: Plan, graded: Mapping[int, Graded]) -> Trial:
    """Return what an attack came to, from the results of its jobs by `id`."""
    attack, entry = plan.attack, plan.attack.entry
    honest = [graded[id(job)].katas for job in (plan.control, plan.before, plan.beside) if job is not None]
    control_problem = "; ".join(filter(None, (find_others("done", katas) for katas in honest)))
    base, hostile, after, alone = (graded[id(job)] for job in (plan.base, plan.hostile, plan.after, plan.alone))
    attacked, *neighbours = hostile.katas
    gained = max(0.0, attacked.score - sum(kata.score for kata in base.katas))
    mib, harmed_next = hostile.peak_mib - base.peak_mib, outcomes(after.katas) != outcomes(alone.katas)
    longest = max(len(test.message) for kata in hostile.katas for test in kata.tests)
    most_seconds = KATA_SECONDS + SLACK_SECONDS if plan.control else math.inf  # a busy machine may try it quickly
    problems = [
        f"earned {gained:g} points too many" if gained else "",
        "ended the process that graded it" if any(test.cause == LOST.cause for test in attacked.tests) else "",
        "blamed the machine" if attacked.status == "inconclusive" else "",
        f"took {hostile.seconds:.0f} seconds" if hostile.seconds > most_seconds else "",
        f"took {mib:.0f} MiB of the grader" if mib > SLACK_MIB else "",
        f"left a text of {longest} characters" if longest > MOST_TEXT else "",
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


def outcomes(katas: Sequence[KataResult]) -> list[tuple[str, str, float, str]]:
    """Return all of a result but the time that it took."""
    return [(test.name, test.outcome, test.score, test.message) for kata in katas for test in kata.tests]


def find_unlinted(admitted: Sequence[Attack]) -> list[str]:
    """Return a line for each of these attacks that the source check does not point the instructor at.

    Each needs a finding of its own; where nothing stops the attack, this finding is not in its control.
    """
    lines = []
    for attack in admitted:
        own = texts_on(attack.hostile) - texts_on(attack.base())
        if not own:
            lines.append(f"attack {attack.title}: nothing is found in its source")
        elif attack.entry.open and not own - texts_on(attack.control):
            lines.append(f"attack {attack.title}: nothing that is found tells it from its honest control")
    return lines


def texts_on(submission: Submission) -> set[str]:
    """Return the texts of the findings in a submission."""
    return set().union(*(texts_in(*file) for file in submission.files.items()))


@cache  # most files are our solution, in every attack
def texts_in(file: str, source: bytes) -> frozenset[str]:
    """Return the texts of the findings in one file."""
    return frozenset(finding.text for finding in lint_file(file, source))

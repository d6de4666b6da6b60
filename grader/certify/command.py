"""`grader certify`: proves what was asked for, and prints what came of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rich.console import Console
from rich.table import Table

from grader.certify import zoo
from grader.certify.admitted import overlooked
from grader.certify.attacks import Attack, Level, attacks
from grader.certify.attacktable import attack_table, refuted_trials, remarks_on
from grader.certify.cheats import Cheat, Slow, cheats, slow_ones
from grader.certify.cheattable import cheat_table, refuted_races, remarks_on_races, slow_solutions
from grader.certify.claims import Claim, claims
from grader.certify.prove import Findings, catch_table, kata_table, markdown, prove, slow_table
from grader.certify.races import CheatTrial, Races, SlowTrial, is_unsure
from grader.certify.siege import EXAMPLES, Siege, Trial
from grader.collect import Tests
from grader.errors import CallError, MachineError
from grader.performance import setup
from grader.performance.progress import SpeedProgress
from grader.progress import Progress, tests_of
from grader.result import write_whole
from grader.terminal import console
from grader.wanted import choose
from grader.worker.launch import Isolation, Sandbox
from grader.workplace import with_sandbox, with_workplace
from kata.catalog import Kata

MOST_UNSURE = 0.25  # of a part's claims


@dataclass(frozen=True)
class Options:
    """The options of `grader certify`."""

    jobs: int
    seeds: int
    examples: int
    isolation: Isolation
    katas: tuple[str, ...]
    markdown: Path | None
    only: Literal["zoo", "attacks", "cheats"] | None = None
    replay: bool = True


@dataclass(frozen=True)
class Proof:
    """What a part of certify has found."""

    tables: list[Table]
    claims: int
    refuted: list[str]
    remarks: list[str]
    unsure: int = 0  # claims that the machine was too restless for


def run_certify(options: Options) -> int:
    """Prove everything; 0 when all claims hold, else 1. Raises CallError where there is no zoo."""
    katas = choose(options.katas)
    todo = list(claims(katas, options.seeds)) if options.only in (None, "zoo") else []
    corpus = list(attacks(katas)) if options.only in (None, "attacks") else []
    slow, fast = (
        (list(slow_ones(katas).values()), list(cheats(katas))) if options.only in (None, "cheats") else ([], [])
    )
    if not zoo.ZOO.is_dir():
        raise CallError("there is no zoo here: certify needs the instructor's checkout")
    if not (todo or corpus or slow):
        raise CallError(f"there are no {options.only} in {', '.join(options.katas)}")
    out, err = console(), console(stderr=True)
    proofs = [prove_zoo(todo, katas, options, out, err)] if todo else []
    proofs += [prove_attacks(corpus, options, out, err)] if corpus else []
    proofs += [prove_cheats(slow, fast, options, out, err)] if slow else []
    tables = [table for proof in proofs for table in proof.tables]
    for table in tables:
        out.print(table)
    for proof in proofs:
        for remark in proof.remarks:
            out.print(remark, markup=False, soft_wrap=True)
        for problem in proof.refuted:
            out.print(f"REFUTED  {problem}", style="red", markup=False, soft_wrap=True)
    if options.markdown is not None:
        options.markdown.parent.mkdir(parents=True, exist_ok=True)
        write_whole(options.markdown, markdown(tables).encode())
    made, refuted = sum(proof.claims for proof in proofs), sum(len(proof.refuted) for proof in proofs)
    unsure = sum(proof.unsure for proof in proofs)
    failed = refuted or any(proof.unsure > MOST_UNSURE * proof.claims for proof in proofs)
    left_open = f", {unsure} were left open by a restless machine" if unsure else ""
    out.print(
        f"{'not certified' if failed else 'certified'}: {made - refuted - unsure} of {made} claims hold{left_open}"
    )
    return 1 if failed else 0


def prove_zoo(todo: Sequence[Claim], katas: Sequence[Kata], options: Options, out: Console, err: Console) -> Proof:
    """That the tests tell right from wrong."""
    findings = Findings()

    def use(tests: Tests, sandbox: Sandbox) -> None:
        total = sum(tests_of(claim.order) for claim in todo)
        with Progress(out, "certifying", "claims", len(todo), total) as progress:
            prove(todo, tests, sandbox, options.jobs, findings, progress.take)

    def warn(text: str) -> None:
        err.print(f"warning: {text}", style="yellow")

    with_workplace(options.isolation, options.examples, warn, use, profile="prove", katas=katas, replay=options.replay)
    diagnoses = findings.diagnoses
    tables = [kata_table(findings, katas), diagnoses.table(katas), catch_table(findings, katas), slow_table(findings)]
    refuted = [f"{claim.group} {claim.kata} {claim.name}: {problem}" for claim, problem in findings.refuted]
    return Proof(tables, len(todo) + 1, [*refuted, *diagnoses.refuted(katas)], diagnoses.unforeseen)


def prove_attacks(corpus: Sequence[Attack], options: Options, out: Console, err: Console) -> Proof:
    """That no attack gains anything, at every level that works here, and that what is admitted is remarked on."""
    trials: list[Trial] = []
    for level in levels(options):
        siege = Siege(corpus, level)

        def use(tests: Tests, sandbox: Sandbox, siege: Siege = siege) -> None:
            orders = siege.all_orders()
            total = sum(map(tests_of, orders))
            with Progress(out, f"attacks, isolation {siege.level}", "submissions", len(orders), total) as progress:
                trials.extend(siege.lay(tests, sandbox, options.jobs, progress.take))

        try:
            with_workplace(level, EXAMPLES, lambda _: None, use, profile="prove")
        except MachineError as error:
            if options.isolation != "auto":
                raise
            err.print(f"warning: no attack was tried there: {error}", style="yellow", markup=False)
    admitted = [attack for attack in corpus if attack.admitted]
    refuted = [*refuted_trials(trials), *overlooked(admitted)]
    return Proof([attack_table(trials)], 2 * len(trials) + len(admitted), refuted, remarks_on(trials))


def prove_cheats(slow: Sequence[Slow], corpus: Sequence[Cheat], options: Options, out: Console, err: Console) -> Proof:
    """That no cheat makes a slow solution look fast.

    At every level that works here where cheats alone are asked for, else at the first: the clock needs no namespaces.
    """
    slow_trials: list[SlowTrial] = []
    trials: list[CheatTrial] = []
    missing = setup.missing("cpu")
    for level in [] if missing else levels(options) if options.only == "cheats" else levels(options)[:1]:
        races = Races(slow, corpus, level)

        def use(sandbox: Sandbox, races: Races = races) -> None:
            with SpeedProgress(out, len(races)) as progress:
                for trial in races.run(sandbox, progress.take):
                    if isinstance(trial, SlowTrial):
                        slow_trials.append(trial)
                    else:
                        trials.append(trial)

        try:
            with_sandbox(level, setup.limits(), setup.timing("cpu"), lambda _: None, use)
        except MachineError as error:
            if options.isolation != "auto":
                raise
            missing = str(error)
    if missing:
        err.print(f"warning: no cheat was tried there: {missing}", style="yellow", markup=False)
    unsure = sum(trial.unsure for trial in trials) + sum(is_unsure(trial.row) for trial in slow_trials)
    return Proof(
        [slow_solutions(slow_trials), cheat_table(trials)],
        len(slow_trials) + 2 * len(trials),
        refuted_races(slow_trials, trials),
        remarks_on_races(slow_trials, trials),
        unsure,
    )


def levels(options: Options) -> tuple[Level, ...]:
    """Where attacks and cheats are tried."""
    return ("bwrap", "none") if options.isolation == "auto" else (options.isolation,)

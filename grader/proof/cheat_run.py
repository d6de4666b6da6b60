"""Time the slow solutions and the cheats, one after the other in one sandbox, and judge what each of them earns.

After each cheat comes the next student's submission, which is the cheat's honest control. A run on the CPU earns
nothing, so what counts here is its worth: the points that the same tier earns on a GPU.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from rich import box
from rich.console import Console
from rich.table import Table

from grader.base.progress import ProgressBar
from grader.base.terminal import print_warning
from grader.pipeline.setup import run_with_sandbox
from grader.proof.cheats import Cheat, Slow
from grader.proof.proof import Level, Options, Proof, Trial, prove_trials, tabulate_trials, try_levels
from grader.results.result import PerformanceResult
from grader.sandbox.launch import Sandbox
from grader.speed import setup
from grader.speed.session import Row, SpeedJob, grade_speed
from torchkata.course import Workload, course
from torchkata.speed.decision import RESTLESS, score_of
from torchkata.speed.sizes import Kind

TRIES = 2  # for a machine that is too restless to say
LONGEST_SECONDS = 400.0  # for one run of one workload
STOPPED_BY = {"passed": "", "crashed": "no valid answer", "timed_out": "the time limit", "not_started": "the reader"}
COLUMNS = ("tried", "points gained", "stopped by", "do the work", "open", "controls passed", "unsure")


def prove_cheats(slow: Sequence[Slow], cheats: Sequence[Cheat], options: Options, out: Console, err: Console) -> Proof:
    """Prove that no cheat makes a slow solution look fast.

    If only cheats are asked for, this is tried at every level that works here, otherwise at the first: the clock needs
    no namespaces.
    """

    def attempt(level: Level, trials: list[Trial]) -> None:
        def use(sandbox: Sandbox) -> None:
            with ProgressBar(out, len(slow) + 2 * len(cheats), "workloads") as progress:
                trials.extend(time_all(slow, cheats, level, sandbox, lambda name: progress.count(f"timing {name}")))

        run_with_sandbox(level, setup.get_limits(), setup.plan_workers(), lambda _: None, use)

    missing = setup.find_missing("cpu")
    if missing:
        print_warning(err, f"no cheat was tried there: {missing}")
    levels = () if missing else options.levels if options.only == "cheats" else options.levels[:1]
    return prove_times(try_levels(levels, attempt, options, err, "cheat"))


def prove_times(trials: Sequence[Trial]) -> Proof:
    """Return the proof that the trials of slow solutions and cheats make, with a table of each."""
    return prove_trials(trials, [tabulate_slow(trials), tabulate_cheats(trials)])


def tabulate_cheats(trials: Sequence[Trial]) -> Table:
    """Return a table of the cheats by class and level."""
    return tabulate_trials("cheats", (trial for trial in trials if trial.kind != "slow"), COLUMNS)


def tabulate_slow(trials: Sequence[Trial]) -> Table:
    """Return a table of the slow solutions by level."""
    table = Table("slow solution", "workload", "isolation", "of the baseline", "points", box=box.SIMPLE_HEAD)
    for trial in trials:
        if (row := trial.row) is not None:
            share = row.outcome if row.ratio is None else f"{row.ratio:.2f}"
            full = course().workloads[row.workload].points.full
            points = "" if trial.unsure else f"{worth(row):g} of {full:g}"
            table.add_row(trial.title, row.workload, trial.level, share, points)
    return table


def time_all(
    slow: Sequence[Slow],
    cheats: Sequence[Cheat],
    level: Level,
    sandbox: Sandbox,
    take: Callable[[str], None],
    kind: Kind = "cpu",
) -> Iterator[Trial]:
    """Time slow solutions, then the cheats below them; `take` gets the name of each run. Raises MachineError.

    A run is repeated while the machine is too restless.
    """

    def timed(name: str, files: Mapping[str, bytes], workload: Workload) -> PerformanceResult:
        for _ in range(TRIES):
            job = SpeedJob(name, files, (), (workload,))
            (row,) = [message.row for message in grade_speed(job, kind, sandbox) if isinstance(message, Row)]
            if not is_unsure(row):
                break
            time.sleep(1.0)
        take(name)
        return row

    alone = {}
    for each in slow:
        alone[each.title] = timed(each.title, each.files(), each.workload)
        yield judge_slow(each, level, alone[each.title])
    for cheat in cheats:
        row = timed(cheat.title, cheat.files(), cheat.slow.workload)
        control = timed(f"{cheat.title} (control)", cheat.control(), cheat.slow.workload)
        yield judge_cheat(cheat, level, alone[cheat.slow.title], row, control)


def judge_slow(slow: Slow, level: Level, row: PerformanceResult) -> Trial:
    """Return what a slow solution came to: it should fail."""
    unsure = is_unsure(row)
    problems = () if unsure or row.outcome == "failed" else (f"it is {row.outcome}, not too slow",)
    return Trial("slow", slow.title, level, problems, unsure=unsure, row=row)


def judge_cheat(
    cheat: Cheat, level: Level, slow: PerformanceResult, row: PerformanceResult, control: PerformanceResult
) -> Trial:
    """Return what a cheat came to, from the rows of the slow solution that it stands below, of itself and its control.

    It should be worth no more than the slow solution, and its control should pass.
    """
    gained, entry = max(0.0, worth(row) - worth(slow)), cheat.entry
    earned = gained and not entry.earns and not is_unsure(row)
    problems = (
        f"is worth {gained:g} points too many" if earned else "",
        f"blamed the machine: {row.message}" if not row.counts and not is_restless(row) else "",
        f"took {row.seconds:.0f} seconds" if row.seconds > LONGEST_SECONDS else "",
    )
    fine = control.outcome == "passed" or is_restless(control)
    by_check = "the check" if row.ratio is None else "the clock"
    return Trial(
        "cheat",
        cheat.title,
        level,
        tuple(filter(None, problems)),
        "" if fine else f"it is {control.outcome}: {control.message}",
        by_check if row.outcome == "failed" else STOPPED_BY.get(row.outcome, row.outcome),
        0.0 if entry.earns else gained,
        "OPEN" if entry.open else "",
        entry.open,
        unsure=is_unsure(row) or is_unsure(slow),
        control_unsure=is_restless(control),
        does_the_work=bool(entry.earns) and gained > 0,
    )


def worth(row: PerformanceResult) -> float:
    """Return the points that the tier which was reached earns on a device where speed earns any."""
    return score_of(row.tier, course().workloads[row.workload].points)


def is_restless(row: PerformanceResult) -> bool:
    """Tell whether the machine was too restless to say anything."""
    return row.outcome == "inconclusive" and RESTLESS in row.message


def is_unsure(row: PerformanceResult) -> bool:
    """Tell whether it was, or the student got the benefit of a doubt: nothing is known of what is to be too slow."""
    in_doubt = (
        row.outcome == "passed"
        and row.ratio is not None
        and row.thresholds is not None
        and row.ratio < row.thresholds[0]
    )
    return in_doubt or is_restless(row)

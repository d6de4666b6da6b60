"""Times the slow solutions and the cheats one after another in one sandbox, and judges the points that they earn.

A cheat pretends to be faster than it is. Its honest control is timed afterwards, as the next student's submission.
Runs on the CPU earn no points. Therefore this module compares the points that the same tier would earn on a GPU.
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

TRIES = 2  # maximum number of measurements if the machine is too noisy
MAX_SECONDS = 400.0  # time limit for a single run of a workload
STOPPED_BY = {"passed": "", "crashed": "no valid answer", "timed_out": "the time limit", "not_started": "the reader"}
COLUMNS = ("tried", "points gained", "stopped by", "legitimate", "open", "controls passed", "inconclusive")


def prove_cheats(slow: Sequence[Slow], cheats: Sequence[Cheat], options: Options, out: Console, err: Console) -> Proof:
    """Prove that no cheat makes a slow solution appear fast.

    With `--only cheats`, every isolation level is tried. Otherwise, the first level is sufficient, because timing does
    not depend on namespaces.
    """

    def attempt(level: Level, trials: list[Trial]) -> None:
        def use(sandbox: Sandbox) -> None:
            with ProgressBar(out, len(slow) + 2 * len(cheats), "workloads") as progress:
                trials.extend(time_all(slow, cheats, level, sandbox, lambda name: progress.count(f"timing {name}")))

        run_with_sandbox(level, setup.get_limits(), setup.plan_workers(), lambda _: None, use)

    missing = setup.find_missing("cpu")
    if missing:
        print_warning(err, f"skipped the cheats on speed: {missing}")
    levels = () if missing else options.levels if options.only == "cheats" else options.levels[:1]
    return prove_times(try_levels(levels, attempt, options, err, "cheat"))


def prove_times(trials: Sequence[Trial]) -> Proof:
    """Return the proof that results from these trials, with a table of slow solutions and a table of cheats."""
    return prove_trials(trials, [tabulate_slow(trials), tabulate_cheats(trials)])


def tabulate_cheats(trials: Sequence[Trial]) -> Table:
    """Return a table of the cheats by class and isolation level."""
    return tabulate_trials("cheats", (trial for trial in trials if trial.kind != "slow"), COLUMNS)


def tabulate_slow(trials: Sequence[Trial]) -> Table:
    """Return a table of the slow solutions by isolation level."""
    table = Table("slow solution", "workload", "isolation", "ratio to baseline", "points", box=box.SIMPLE_HEAD)
    for trial in trials:
        if (row := trial.row) is not None:
            share = row.outcome if row.ratio is None else f"{row.ratio:.2f}"
            full = course().workloads[row.workload].points.full
            points = "" if trial.inconclusive else f"{compute_worth(row):g} of {full:g}"
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
    """Time the slow solutions, then the cheats that are appended to them. Raises MachineError if the sandbox fails.

    `take` is called with the name of each run. Inconclusive runs are repeated.
    """

    def measure(name: str, files: Mapping[str, bytes], workload: Workload) -> PerformanceResult:
        for _ in range(TRIES):
            job = SpeedJob(name, files, (), (workload,))
            (row,) = [message.row for message in grade_speed(job, kind, sandbox) if isinstance(message, Row)]
            if not is_inconclusive(row):
                break
            time.sleep(1.0)
        take(name)
        return row

    alone = {}
    for each in slow:
        alone[each.title] = measure(each.title, each.make_files(), each.workload)
        yield judge_slow(each, level, alone[each.title])
    for cheat in cheats:
        row = measure(cheat.title, cheat.make_files(), cheat.slow.workload)
        control = measure(f"{cheat.title} (control)", cheat.make_control(), cheat.slow.workload)
        yield judge_cheat(cheat, level, alone[cheat.slow.title], row, control)


def judge_slow(slow: Slow, level: Level, row: PerformanceResult) -> Trial:
    """Return the trial of a slow solution, which should fail its workload."""
    inconclusive = is_inconclusive(row)
    problems = () if inconclusive or row.outcome == "failed" else (f"outcome {row.outcome}, expected failed",)
    return Trial("slow", slow.title, level, problems, inconclusive=inconclusive, row=row)


def judge_cheat(
    cheat: Cheat, level: Level, slow: PerformanceResult, row: PerformanceResult, control: PerformanceResult
) -> Trial:
    """Return the trial of a cheat, given the results of its slow solution, of the cheat itself and of its control.

    The cheat should not earn more points than the slow solution, and its control should pass.
    """
    gained, entry = max(0.0, compute_worth(row) - compute_worth(slow)), cheat.entry
    earned = gained and not entry.earns and not is_inconclusive(row)
    problems = (
        f"gained {gained:g} points" if earned else "",
        f"made the result inconclusive: {row.message}" if not row.counts and not is_noisy(row) else "",
        f"took {row.seconds:.0f} seconds" if row.seconds > MAX_SECONDS else "",
    )
    fine = control.outcome == "passed" or is_noisy(control)
    by_check = "the check" if row.ratio is None else "the clock"
    return Trial(
        "cheat",
        cheat.title,
        level,
        tuple(filter(None, problems)),
        "" if fine else f"outcome {control.outcome}: {control.message}",
        by_check if row.outcome == "failed" else STOPPED_BY.get(row.outcome, row.outcome),
        0.0 if entry.earns else gained,
        "OPEN" if entry.open else "",
        entry.open,
        inconclusive=is_inconclusive(row) or is_inconclusive(slow),
        control_inconclusive=is_noisy(control),
        does_the_work=bool(entry.earns) and gained > 0,
    )


def compute_worth(row: PerformanceResult) -> float:
    """Return the points that the measured tier would earn on a GPU."""
    return score_of(row.tier, course().workloads[row.workload].points)


def is_noisy(row: PerformanceResult) -> bool:
    """Return whether the machine was too noisy for the measurement."""
    return row.outcome == "inconclusive" and RESTLESS in row.message


def is_inconclusive(row: PerformanceResult) -> bool:
    """Return whether the machine was too noisy, or the result passed only with the benefit of the doubt."""
    in_doubt = (
        row.outcome == "passed"
        and row.ratio is not None
        and row.thresholds is not None
        and row.ratio < row.thresholds[0]
    )
    return in_doubt or is_noisy(row)

"""The cheats on speed: points without them, with them, and of their controls. Run: python -m benchmarks.cheats

They are timed on the CPU; the points are those that the same tiers earn on a GPU.

--isolation LEVEL      bwrap (if nothing is said) or none
--late                 instead: three blocks of each by the path of a GPU, on a device that does everything late
--solution-runs N      instead: how often of N runs the solution passes each workload, on the CPU
"""

import argparse
from collections.abc import Sequence

from benchmarks.timing import table
from grader.pipeline.workplace import with_sandbox
from grader.proof.cheat_run import CheatRun, CheatTrial, SlowTrial, in_sandbox, worth
from grader.proof.cheats import cheats, slow_ones
from grader.results.result import PerformanceResult
from grader.sandbox.launch import Sandbox
from grader.speed import setup
from grader.speed.machine import Machine
from grader.tests.late_machine import late_machine, late_timing, outcome_of
from torchkata.course import course

KATAS = list(course().katas.values())


def main() -> None:
    """Either table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cheats")
    parser.add_argument("--isolation", choices=("bwrap", "none"), default="bwrap")
    parser.add_argument("--late", action="store_true")
    parser.add_argument("--solution-runs", type=int, default=0, metavar="N")
    chosen = parser.parse_args()
    cheat_run = CheatRun(list(slow_ones(KATAS).values()), list(cheats(KATAS)), chosen.isolation)

    def use(sandbox: Sandbox) -> None:
        if chosen.solution_runs:
            show_solution(sandbox, chosen.solution_runs)
        elif chosen.late:
            with late_machine(sandbox) as machine:
                show_late(machine)
        else:
            show_cheats(list(cheat_run.run(sandbox, print)))

    with_sandbox(chosen.isolation, setup.limits(), late_timing() if chosen.late else setup.timing(), print, use)


def show_late(machine: Machine) -> None:
    """A line for each cheat: seconds of a block, or how it ended, of its slow solution, of itself and its control."""
    print("| cheat | slow solution | with the cheat | its control |\n| --- | --- | --- | --- |")
    alone = {slow: outcome_of(machine, each.files(), each.workload) for slow, each in slow_ones(KATAS).items()}
    for cheat in cheats(KATAS):
        tried = (outcome_of(machine, files, cheat.slow.workload) for files in (cheat.files(), cheat.control()))
        texts = [found if isinstance(found, str) else f"{found:.2f}" for found in (alone[cheat.slow.title], *tried)]
        print(f"| {cheat.title} | {' | '.join(texts)} |", flush=True)


def show_cheats(trials: Sequence[SlowTrial | CheatTrial]) -> None:
    """A line for each slow solution, then for each cheat."""
    rows = [("slow solution", "workload", "share of the baseline")]
    rows += [(t.slow.title, t.slow.workload.name, came_to(t.row)) for t in trials if isinstance(t, SlowTrial)]
    table(rows)
    print()
    rows = [("cheat", "points without, with, control", "stopped by")]
    for trial in trials:
        if isinstance(trial, CheatTrial):
            found = ", ".join(f"{worth(row):g}" for row in (trial.slow, trial.row, trial.control))
            points = f"{found} of {trial.cheat.slow.workload.points.full:g}"
            excuse = (
                "it does the work" if trial.cheat.entry.earns else "nothing: open" if trial.cheat.entry.open else ""
            )
            rows.append((trial.cheat.title, points, excuse if trial.gained and excuse else trial.stopped_by))
    table(rows)


def show_solution(sandbox: Sandbox, runs: int) -> None:
    """How the solution fares, again and again."""
    files = course().solutions()
    rows = [("workload", "passed, by the upper threshold, of runs that count", "shares of the baseline")]
    for workload in course().workloads.values():
        found = [in_sandbox(sandbox, "solution", files, workload) for _ in range(runs)]
        counted = [row for row in found if row.counts]
        passed = sum(row.outcome == "passed" for row in counted)
        full = sum(row.tier == "full" for row in counted)
        shares = sorted(row.ratio for row in counted if row.ratio is not None)
        spread = f"{shares[0]:.2f} to {shares[-1]:.2f}" if shares else ""
        rows.append((workload.name, f"{passed}, {full} of {len(counted)}", spread))
        print(*rows[-1], flush=True)
    print()
    table(rows)


def came_to(row: PerformanceResult) -> str:
    """The share, or how else it ended."""
    return row.outcome if row.ratio is None else f"{row.ratio:.2f}"


if __name__ == "__main__":
    main()

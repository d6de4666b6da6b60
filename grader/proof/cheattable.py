"""What came of the cheats on speed: tables by class and by slow solution, a line for each that achieved something."""

from collections import Counter
from collections.abc import Sequence

from rich import box
from rich.table import Table

from grader.proof.cheat_run import CheatTrial, SlowTrial, is_unsure, worth


def slow_solutions(trials: Sequence[SlowTrial]) -> Table:
    """By slow solution and level: what it came to."""
    table = Table("slow solution", "workload", "isolation", "of the baseline", "points", box=box.SIMPLE_HEAD)
    for trial in trials:
        row = trial.row
        share = row.outcome if row.ratio is None else f"{row.ratio:.2f}"
        points = "" if is_unsure(row) else f"{worth(row):g} of {trial.slow.workload.points.full:g}"
        table.add_row(trial.slow.title, trial.slow.workload.name, trial.level, share, points)
    return table


def cheat_table(trials: Sequence[CheatTrial]) -> Table:
    """By class and level: how many were tried, what they gained, and what stopped them."""
    columns = ("cheats", "isolation", "tried", "points gained", "stopped by", "do the work", "open", "controls passed")
    table = Table(*columns, "unsure", box=box.SIMPLE_HEAD)
    for group, level in sorted({(trial.cheat.group, trial.level) for trial in trials}):
        those = [trial for trial in trials if (trial.cheat.group, trial.level) == (group, level)]
        stopped = Counter(trial.stopped_by for trial in those if trial.row.outcome != "passed")
        table.add_row(
            group.replace("_", " "),
            level,
            str(len(those)),
            f"{sum(trial.gained for trial in those if not trial.cheat.entry.earns):g}",
            ", ".join(f"{what} {count}" for what, count in stopped.most_common()),
            str(sum(bool(trial.cheat.entry.earns) and trial.gained > 0 for trial in those) or ""),
            str(sum(bool(trial.cheat.entry.open and trial.problems) for trial in those) or ""),
            f"{sum(trial.control.outcome == 'passed' for trial in those)}/{len(those)}",
            str(sum(trial.unsure for trial in those) or ""),
        )
    return table


def failed_cheats(slow: Sequence[SlowTrial], trials: Sequence[CheatTrial]) -> list[str]:
    """A line for each cheat that achieved something, each control that did not pass, each slow solution that did."""
    lines = [f"slow {trial.slow.title} at {trial.level}: {trial.problem}" for trial in slow if trial.problem]
    lines += [
        f"cheat {trial.cheat.title} at {trial.level}: {'; '.join(trial.problems)}"
        for trial in trials
        if trial.problems and not trial.cheat.entry.open
    ]
    return lines + [
        f"control of {trial.cheat.title} at {trial.level}: {trial.control_problem}"
        for trial in trials
        if trial.control_problem
    ]


def notes_on_cheats(slow: Sequence[SlowTrial], trials: Sequence[CheatTrial]) -> list[str]:
    """A line for each cheat that is admitted, and for each claim that the machine was too restless for."""
    lines = [
        f"OPEN  {trial.cheat.title} at {trial.level}: {'; '.join(trial.problems)} ({trial.cheat.entry.open})"
        for trial in trials
        if trial.problems and trial.cheat.entry.open
    ]
    lines += [f"UNSURE  slow {trial.slow.title} at {trial.level}" for trial in slow if is_unsure(trial.row)]
    return lines + [f"UNSURE  {trial.cheat.title} at {trial.level}" for trial in trials if trial.unsure]

"""What came of the attacks: a table by class and level, and a line for each that achieved something."""

from collections import Counter
from collections.abc import Sequence

from rich import box
from rich.table import Table

from grader.proof.attack_run import Trial


def attack_table(trials: Sequence[Trial], *, controls: bool = True) -> Table:
    """By class and level: how many were tried, what they gained, what stopped them; and the controls, if they were."""
    columns = ("attacks", "isolation", "tried", "points gained", "next harmed", "stopped by", "left to bwrap", "open")
    whole = ("controls done", "most MiB", "most seconds") if controls else ()
    table = Table(*columns, *whole, box=box.SIMPLE_HEAD)
    for group, level in sorted({(trial.attack.group, trial.level) for trial in trials}):
        those = [trial for trial in trials if (trial.attack.group, trial.level) == (group, level)]
        stopped = Counter(trial.stopped_by for trial in those if not trial.problems)
        achieved = [trial for trial in those if trial.excused and trial.problems]
        cost = (
            f"{sum(trial.control_problem is None for trial in those)}/{len(those)}",
            f"{max(trial.mib for trial in those):.0f}",
            f"{max(trial.seconds for trial in those):.1f}",
        )
        table.add_row(
            group.replace("_", " "),
            level,
            str(len(those)),
            f"{sum(trial.gained for trial in those):g}",
            str(sum(trial.harmed_next for trial in those)),
            ", ".join(f"{what} {count}" for what, count in stopped.most_common()),
            str(sum(not trial.attack.entry.open for trial in achieved) or ""),
            str(sum(bool(trial.attack.entry.open) for trial in achieved) or ""),
            *(cost if controls else ()),
        )
    return table


def failed_trials(trials: Sequence[Trial]) -> list[str]:
    """A line for each attack that achieved what it must not, and for each control that is not done."""
    lines = [
        f"attack {trial.attack.title} at {trial.level}: {'; '.join(trial.problems)}"
        for trial in trials
        if trial.problems and not trial.excused
    ]
    return lines + [
        f"control of {trial.attack.title} at {trial.level}: {trial.control_problem}"
        for trial in trials
        if trial.control_problem
    ]


def notes_on(trials: Sequence[Trial]) -> list[str]:
    """A line for each attack that achieved what the corpus says that nothing here stops."""
    return [
        f"{'OPEN' if trial.attack.entry.open else 'ONLY BWRAP STOPS'}  {trial.attack.title} at {trial.level}: "
        + "; ".join(trial.problems)
        + (f" ({trial.attack.entry.open})" if trial.attack.entry.open else "")
        for trial in trials
        if trial.excused and trial.problems
    ]

"""Proves that cheating on speed does not pay: slow solutions and cheats race by the grader's clock."""

from collections.abc import Sequence

from rich.console import Console

from grader.base.errors import MachineError
from grader.base.progress import ProgressBar
from grader.pipeline.workplace import with_sandbox
from grader.proof.cheat_run import CheatRun, CheatTrial, SlowTrial, is_unsure
from grader.proof.cheats import Cheat, Slow
from grader.proof.cheattable import cheat_table, failed_cheats, notes_on_cheats, slow_solutions
from grader.proof.proof import Options, Proof, levels
from grader.sandbox.launch import Sandbox
from grader.speed import setup


def prove_cheats(slow: Sequence[Slow], corpus: Sequence[Cheat], options: Options, out: Console, err: Console) -> Proof:
    """That no cheat makes a slow solution look fast.

    At every level that works here where cheats alone are asked for, else at the first: the clock needs no namespaces.
    """
    slow_trials: list[SlowTrial] = []
    trials: list[CheatTrial] = []
    missing = setup.missing("cpu")
    for level in [] if missing else levels(options) if options.only == "cheats" else levels(options)[:1]:
        cheat_run = CheatRun(slow, corpus, level)

        def use(sandbox: Sandbox, cheat_run: CheatRun = cheat_run) -> None:
            with ProgressBar(out, len(cheat_run), "workloads") as progress:
                for trial in cheat_run.run(sandbox, lambda name: progress.count(f"timing {name}")):
                    if isinstance(trial, SlowTrial):
                        slow_trials.append(trial)
                    else:
                        trials.append(trial)

        try:
            with_sandbox(level, setup.limits(), setup.timing(), lambda _: None, use)
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
        failed_cheats(slow_trials, trials),
        notes_on_cheats(slow_trials, trials),
        unsure,
    )

"""The progress bar of a class on the cluster; on a terminal only, and nothing of it stays."""

from collections import Counter
from collections.abc import Collection

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from grader.cluster.pending import Pending
from grader.cluster.slurm import Job


class ClusterProgress(Progress):
    """Submissions from their results, tasks from squeue."""

    def __init__(self, out: Console, pending: Pending) -> None:
        super().__init__(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("graded"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(elapsed_when_finished=False),
            console=out,
            auto_refresh=False,
            transient=True,
            disable=not out.is_terminal,
            speed_estimate_period=1800,
        )
        self.pending = pending
        self.all = self.add_task("", total=len(pending.paths))

    def show(self, jobs: Collection[Job]) -> None:
        """Bring it up to date."""
        done = len(self.pending.paths) - len(self.pending.left)
        self.update(self.all, completed=done, description=described(jobs, len(self.pending.inconclusive)))
        self.refresh()


def described(jobs: Collection[Job], inconclusive: int) -> str:
    """How many tasks wait, run and have ended, and how many submissions came out inconclusive."""
    states = Counter("ended" if job.ended else "pending" if job.state == "PENDING" else "running" for job in jobs)
    parts = [f"{states[state]} {state}" for state in ("pending", "running", "ended") if states[state]]
    words = f"tasks: {', '.join(parts) or 'none'}"
    return f"{words}; {inconclusive} inconclusive" if inconclusive else words

"""The progress bar while speed is graded: submissions and workloads; on a terminal only, and nothing of it stays."""

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn


class SpeedProgress(Progress):
    """Drawn at every step: no thread may run while children are forked."""

    def __init__(self, out: Console, workloads: int) -> None:
        super().__init__(
            TextColumn("timing {task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("workloads"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=out,
            auto_refresh=False,
            transient=True,
            disable=not out.is_terminal,
        )
        self.all = self.add_task("", total=workloads)

    def take(self, submission: str) -> None:
        """A workload of it has ended."""
        self.update(self.all, advance=1, description=submission)
        self.refresh()

"""The progress bar while speed is graded: submissions and workloads; on a terminal only, and nothing of it stays."""

from collections.abc import Sequence

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from grader.performance.session import Order
from grader.result import PerformanceResult


class SpeedProgress(Progress):
    """Drawn at every step: no thread may run while children are forked."""

    def __init__(self, out: Console, orders: Sequence[Order]) -> None:
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
        self.all = self.add_task("", total=sum(len(order.workloads) for order in orders))

    def take(self, order: Order, _row: PerformanceResult) -> None:
        """A workload has ended."""
        self.update(self.all, advance=1, description=order.submission)
        self.refresh()

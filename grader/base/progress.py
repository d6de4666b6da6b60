"""The progress bar used by all commands. It is shown only on a terminal, and disappears at the end."""

from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from grader.base.text import one_line


class ProgressBar(Progress):
    """A progress bar with a description, the number of finished items (of `total`), and the remaining time.

    It is drawn only by `draw` and not by a thread, because no other thread may be running while children are forked.
    """

    def __init__(self, out: Console, total: int, items: str, *, speed_seconds: float = 30.0) -> None:
        super().__init__(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn(items),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=out,
            auto_refresh=False,
            transient=True,
            disable=not out.is_terminal,
            speed_estimate_period=speed_seconds,
        )
        self.bar = self.add_task("", total=total)

    def draw(self, description: str, **changes: Any) -> None:
        """Update the bar (using the arguments of `rich.progress.Progress.update`) and draw it."""
        self.update(self.bar, description=one_line(description), **changes)
        self.refresh()

    def count(self, description: str) -> None:
        """Increment the number of finished items and draw the bar."""
        self.draw(description, advance=1)

"""Where the grader prints, and its progress bar."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

WIDE = 120  # columns, where the output is no terminal


def console(*, quiet: bool = False, stderr: bool = False) -> Console:
    """Wide enough for a table when it is a file or a pipe."""
    made = Console(quiet=quiet, stderr=stderr, highlight=False)
    return made if made.is_terminal else Console(quiet=quiet, stderr=stderr, highlight=False, width=WIDE)


class Advance:
    """One step of the bar, drawn at once: no thread may run while children are forked."""

    def __init__(self, bar: Progress, total: int) -> None:
        self.bar = bar
        self.task = bar.add_task("", total=total)

    def __call__(self) -> None:
        """Another test has ended."""
        self.bar.advance(self.task)
        self.bar.refresh()


@contextmanager
def progress_bar(out: Console, what: str, total: int) -> Iterator[Advance]:
    """A bar over all tests, with the time left; it leaves nothing behind."""
    columns = (
        TextColumn(what),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("tests"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=out, auto_refresh=False, transient=True) as bar:
        yield Advance(bar, total)

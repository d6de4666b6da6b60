"""`python -m torchkata.notebook.server`: imports torch once, and forks a run of pytest for each line that it reads.

It is told what to run as JSON, and answers with the exit code. An empty line ends the run; the end of all lines, as
when the notebook's kernel has gone, ends everything.
"""

import json
import select
import sys
from pathlib import Path

from torchkata.cli import runs

TICK_SECONDS = 0.02  # between two looks at a run


def main() -> None:
    """Serve until the kernel is gone."""
    runs.load()
    while line := sys.stdin.readline():
        if request := line.strip():
            print(code_of(**json.loads(request)), flush=True)


def code_of(arguments: list[str], output: str) -> int:
    """The exit code of a run, which ends early when something else is said."""
    with Path(output).open("wb") as file:
        run = runs.Forked(arguments, file)
    while (code := run.poll()) is None:
        if select.select([sys.stdin], [], [], TICK_SECONDS)[0]:
            run.kill()
            return run.wait()
    return code


if __name__ == "__main__":
    main()

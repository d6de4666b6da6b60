"""`python -m torchkata.notebook.server`: imports torch once, and forks a pytest run for each request.

A request is a line of JSON on stdin. The reply is the exit code, written to stdout. An empty line cancels the current
run. The server exits at the end of stdin, for example when the notebook's kernel exits.
"""

import json
import select
import sys
from pathlib import Path

from torchkata.cli import runs

TICK_SECONDS = 0.02  # time between two polls of a run


def main() -> None:
    """Serve requests until the kernel exits."""
    runs.load()
    while line := sys.stdin.readline():
        if request := line.strip():
            print(run_request(**json.loads(request)), flush=True)


def run_request(arguments: list[str], output: str) -> int:
    """Run pytest and return its exit code. Kill pytest if another line arrives on stdin in the meantime."""
    with Path(output).open("wb") as file:
        run = runs.Forked(arguments, file)
    while (code := run.poll()) is None:
        if select.select([sys.stdin], [], [], TICK_SECONDS)[0]:
            run.kill()
            return run.wait()
    return code


if __name__ == "__main__":
    main()

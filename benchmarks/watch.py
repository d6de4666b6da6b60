"""Measure how long `kata watch` takes to show the verdict on a saved file. Run: python -m benchmarks.watch

`kata watch` runs in a temporary handout, attached to a pseudo-terminal. The time from saving the file until the verdict
appears is compared with the time that a new pytest process takes.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.timing import ENVIRONMENT, print_table
from grader.commands.package.write import spread
from grader.commands.release.contents import add_prerequisites, build_handout
from grader.tests.support.pseudo_terminal import Terminal
from torchkata.cli.watcher import Watcher
from torchkata.course import course

REPEATS = 5
KATAS = ("same_storage", "linear", "train")
POLLS = 200
PLAIN = {name: value for name, value in ENVIRONMENT.items() if name != "PYTHONPATH"} | {"NO_COLOR": "1"}


def main() -> None:
    """Run the benchmark and print the table."""
    with tempfile.TemporaryDirectory() as name:
        handout = Path(name)
        spread(build_handout(add_prerequisites(list(course().katas))), handout)
        for kata in course().katas:
            save(handout, kata)
        cold = {kata: statistics.median(time_cold(handout, kata) for _ in range(REPEATS)) for kata in KATAS}
        with Terminal([sys.executable, "-m", "torchkata", "watch"], handout, PLAIN) as terminal:
            terminal.read_until("q quit")
            warm = {kata: [time_verdict(terminal, handout, kata) for _ in range(REPEATS)] for kata in KATAS}
        poll = time_poll(handout)
    rows = [("save to verdict, median (maximum)", "seconds", "÷ new pytest --kata process")]
    for kata, taken in warm.items():
        middle = statistics.median(taken)
        rows.append((kata, f"{middle:.2f} ({max(taken):.2f})", f"{middle / cold[kata]:.2f} of {cold[kata]:.2f}"))
    rows.append(("one poll of the files", f"{poll:.6f}", "every 0.03 s (a file-watching library would save it)"))
    print_table(rows)


def save(handout: Path, kata: str) -> None:
    """Save the reference solution of a kata in the handout."""
    (handout / "assignment" / f"{kata}.py").write_bytes(course().solution(kata).read_bytes())


def time_cold(handout: Path, kata: str) -> float:
    """Return the number of seconds that a new pytest process takes to test one kata."""
    began = time.perf_counter()
    command = [sys.executable, "-m", "pytest", f"--kata={kata}"]
    subprocess.run(command, cwd=handout, env=PLAIN, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began


def time_verdict(terminal: Terminal, handout: Path, kata: str) -> float:
    """Return the number of seconds from saving the file to the verdict, without waiting for the rest of the output."""
    began = time.perf_counter()
    save(handout, kata)
    terminal.read_until(f"  {kata} ")
    terminal.read_until("done")
    taken = time.perf_counter() - began
    terminal.read_until("q quit")
    return taken


def time_poll(handout: Path) -> float:
    """Return the number of seconds that it takes to poll all assignment files once."""
    watcher = Watcher(handout / "assignment")
    began = time.perf_counter()
    for _ in range(POLLS):
        watcher.poll()
    return (time.perf_counter() - began) / POLLS


if __name__ == "__main__":
    main()

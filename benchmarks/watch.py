"""How soon `kata watch` has a verdict on a saved file, as a share of a cold pytest. Run: python -m benchmarks.watch

In a handout of its own, at a pseudo-terminal; from the moment the file is saved until the verdict is read there.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.timing import ENVIRONMENT, table
from grader.commands.package.write import spread
from grader.commands.release.contents import add_foundations, build_handout
from grader.tests.support.pseudo_terminal import Terminal
from torchkata.cli.watcher import Watcher
from torchkata.course import course

REPEATS = 5
KATAS = ("same_storage", "linear", "train")
LOOKS = 200
PLAIN = {name: value for name, value in ENVIRONMENT.items() if name != "PYTHONPATH"} | {"NO_COLOR": "1"}


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as name:
        handout = Path(name)
        spread(build_handout(add_foundations(list(course().katas))), handout)
        for kata in course().katas:
            save(handout, kata)
        cold = {kata: statistics.median(cold_seconds(handout, kata) for _ in range(REPEATS)) for kata in KATAS}
        with Terminal([sys.executable, "-m", "torchkata", "watch"], handout, PLAIN) as terminal:
            terminal.until("q quit")
            warm = {kata: [verdict_seconds(terminal, handout, kata) for _ in range(REPEATS)] for kata in KATAS}
        look = look_seconds(handout)
    rows = [("saved until the verdict, median (longest)", "seconds", "÷ cold pytest --kata")]
    for kata, taken in warm.items():
        middle = statistics.median(taken)
        rows.append((kata, f"{middle:.2f} ({max(taken):.2f})", f"{middle / cold[kata]:.2f} of {cold[kata]:.2f}"))
    rows.append(("a look at the files", f"{look:.6f}", "every 0.03 s (a watching library would save that)"))
    table(rows)


def save(handout: Path, kata: str) -> None:
    """Save our solution of a kata."""
    (handout / "assignment" / f"{kata}.py").write_bytes(course().solution(kata).read_bytes())


def cold_seconds(handout: Path, kata: str) -> float:
    """A new process with pytest on one kata."""
    began = time.perf_counter()
    command = [sys.executable, "-m", "pytest", f"--kata={kata}"]
    subprocess.run(command, cwd=handout, env=PLAIN, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began


def verdict_seconds(terminal: Terminal, handout: Path, kata: str) -> float:
    """From the save to the line with the verdict; what is run after it is waited for, and not counted."""
    began = time.perf_counter()
    save(handout, kata)
    terminal.until(f"  {kata} ")
    terminal.until("done")
    taken = time.perf_counter() - began
    terminal.until("q quit")
    return taken


def look_seconds(handout: Path) -> float:
    """One look at all files of the assignment."""
    watcher = Watcher(handout / "assignment")
    began = time.perf_counter()
    for _ in range(LOOKS):
        watcher.poll()
    return (time.perf_counter() - began) / LOOKS


if __name__ == "__main__":
    main()

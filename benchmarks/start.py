"""How long `grader grade` takes until its first test has ended, in multiples of `import torch`.

Run: python -m benchmarks.start
"""

import signal
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from benchmarks import ROOT
from benchmarks.timing import ENVIRONMENT, grade_command, seconds, table

REPEATS = 5
AIM = 2.3  # 3 s where `import torch` takes 1.3 s
SUBMISSION = ROOT / "examples/submissions/complete"


def until_the_first_test(cache: Path, *options: str) -> float:
    """Seconds until the report that is rewritten after each test is there for the second time: the first has none."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "results.json"
        written: set[int] = set()
        began = time.perf_counter()
        with subprocess.Popen(
            grade_command([SUBMISSION], Path(folder, "out"), *options, "--gradescope", str(report)),
            cwd=ROOT,
            env={**ENVIRONMENT, "XDG_CACHE_HOME": str(cache)},
            stdout=subprocess.DEVNULL,
        ) as process:
            while len(written) < 2:
                if report.exists():
                    written.add(report.stat().st_ino)
                if process.poll() is not None:
                    raise RuntimeError(f"it ended before its first test, with exit code {process.returncode}")
                time.sleep(0.005)
            taken = time.perf_counter() - began
            process.send_signal(signal.SIGINT)
        return taken


def main() -> None:
    """Measure and print."""
    seconds("-c", "import torch")
    one = ("--kata", "same_storage")
    runs: dict[str, list[float]] = {
        "one kata, cold": [],
        "one kata": [],
        "the core track, cold": [],
        "the core track": [],
    }
    base = []
    for _ in range(REPEATS):  # in turn, so that a slow minute of the machine slows them all
        base.append(seconds("-c", "import torch"))
        for name, options in (("one kata", one), ("the core track", ())):
            with tempfile.TemporaryDirectory() as cache:
                runs.setdefault(f"{name}, cold", []).append(until_the_first_test(Path(cache), *options))
                runs.setdefault(name, []).append(until_the_first_test(Path(cache), *options))
    torch = statistics.median(base)
    rows = [("until the first test of a grading has ended", "seconds", "÷ import torch")]
    rows.append(("import torch", f"{torch:.2f}", "1.0"))
    for name, taken in runs.items():
        middle = statistics.median(taken)
        rows.append((name, f"{middle:.2f}", f"{middle / torch:.1f}  (aim ≤ {AIM:g})"))
    table(rows)


if __name__ == "__main__":
    main()

"""Follow a student's steps in a handout, from unmodified stubs to the zip file. Runs on any system, without the grader.

    python scripts/try_handout.py HANDOUT SOLUTION

HANDOUT was written by `grader release` and is installed. SOLUTION is a folder of finished katas.
"""

import os
import queue
import re
import shutil
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

KATA = [sys.executable, "-m", "torchkata"]
PATIENCE = 300  # time limit in seconds of each step, long enough for a slow machine


def demand(claim: str, holds: bool, printed: str) -> None:
    """Print a claim and whether it holds. If it does not hold, show the output of the command and exit."""
    print(f"{'ok ' if holds else 'NOT'} {claim}", flush=True)
    if not holds:
        sys.exit(printed)


def call(handout: Path, *command: str) -> tuple[int, str]:
    """Run a command and return its exit code and output."""
    done = subprocess.run(
        [*command], cwd=handout, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE, check=False
    )
    return done.returncode, done.stdout.decode("utf-8", "replace")


def watch(handout: Path, saved: Path) -> str:
    """Save a file while `kata watch` is running, and return its output up to the verdict."""
    lines: queue.Queue[str] = queue.Queue()
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        [*KATA, "watch"], cwd=handout, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        pipe = process.stdout

        def read() -> None:
            for line in pipe:
                lines.put(line.decode("utf-8", "replace"))

        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        printed = [""]
        try:
            while "Ctrl-C" not in printed[-1]:
                printed.append(lines.get(timeout=PATIENCE))
            shutil.copyfile(saved, handout / "assignment" / saved.name)
            while f"  {saved.stem} " not in printed[-1]:
                printed.append(lines.get(timeout=PATIENCE))
        except queue.Empty:
            printed.append("… no further output\n")
        finally:
            process.kill()
            reader.join()
    return "".join(printed)


def main(handout: Path, solution: Path) -> None:
    """Run all steps in order."""
    katas = sorted(path for path in solution.glob("*.py") if path.name != "__init__.py")
    code, printed = call(handout, *KATA)
    following = re.search(r"assignment/(\w+\.py)", printed)
    demand("kata shows the progress and the next kata", code == 0 and following is not None, printed)
    assert following is not None
    first = solution / following[1]
    code, printed = call(handout, sys.executable, "-m", "pytest", "--collect-only")
    demand("editors find the tests", code == 0 and "::test_" in printed, printed)
    code, printed = call(handout, *KATA, "next")
    demand("kata next tests a stub", code == 1 and "not started" in printed, printed)
    printed = watch(handout, first)
    demand("kata watch tests a saved file", f"  {first.stem} " in printed and " done " in printed, printed)
    for path in katas:
        shutil.copyfile(path, handout / "assignment" / path.name)
    code, printed = call(handout, sys.executable, "-m", "pytest")
    demand("pytest passes with the solution", code == 0 and "wrong" not in printed, printed)
    code, printed = call(handout, *KATA, "export")
    demand("kata export writes the zip", code == 0, printed)
    with zipfile.ZipFile(handout / "assignment.zip") as archive:
        names = sorted(archive.namelist())
    demand("the zip contains the katas", names == [f"assignment/{path.name}" for path in katas], "\n".join(names))


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve())

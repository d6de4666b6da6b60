"""Does what a student does in a handout, from an untouched stub to a zip: on any system, with nothing of the grader.

    python scripts/try_handout.py HANDOUT SOLUTION

HANDOUT is what `grader release` has written, and this Python has what it needs; SOLUTION is a folder of finished katas.
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
PATIENCE = 300  # seconds that a slow machine may take for anything


def demand(what: str, holds: bool, said: str) -> None:
    """End, and show what was said, unless it holds."""
    print(f"{'ok ' if holds else 'NOT'} {what}", flush=True)
    if not holds:
        sys.exit(said)


def call(handout: Path, *command: str) -> tuple[int, str]:
    """Type a command: its exit code, and what it said."""
    done = subprocess.run(
        [*command], cwd=handout, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE, check=False
    )
    return done.returncode, done.stdout.decode("utf-8", "replace")


def watch(handout: Path, saved: Path) -> str:
    """Save a file while `kata watch` runs: what it said, up to the table."""
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
        said = [""]
        try:
            while "Ctrl-C" not in said[-1]:
                said.append(lines.get(timeout=PATIENCE))
            shutil.copyfile(saved, handout / "assignment" / saved.name)
            while f"  {saved.stem} " not in said[-1]:
                said.append(lines.get(timeout=PATIENCE))
        except queue.Empty:
            said.append("… and nothing more\n")
        finally:
            process.kill()
            reader.join()
    return "".join(said)


def main(handout: Path, solution: Path) -> None:
    """Every step, in order."""
    katas = sorted(path for path in solution.glob("*.py") if path.name != "__init__.py")
    code, said = call(handout, *KATA)
    following = re.search(r"assignment/(\w+\.py)", said)
    demand("kata shows where a student is, and what is next", code == 0 and following is not None, said)
    assert following is not None
    first = solution / following[1]
    code, said = call(handout, sys.executable, "-m", "pytest", "--collect-only")
    demand("an editor finds the tests", code == 0 and "::test_" in said, said)
    code, said = call(handout, *KATA, "next")
    demand("kata next tests a stub", code == 1 and "not started" in said, said)
    said = watch(handout, first)
    demand("kata watch tests a file that is saved", f"  {first.stem} " in said and " done " in said, said)
    for path in katas:
        shutil.copyfile(path, handout / "assignment" / path.name)
    code, said = call(handout, sys.executable, "-m", "pytest")
    demand("pytest finds the solution done", code == 0 and "wrong" not in said, said)
    code, said = call(handout, *KATA, "export")
    demand("kata export writes all of it", code == 0, said)
    with zipfile.ZipFile(handout / "assignment.zip") as archive:
        names = sorted(archive.namelist())
    demand("the zip holds the katas", names == [f"assignment/{path.name}" for path in katas], "\n".join(names))


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve())

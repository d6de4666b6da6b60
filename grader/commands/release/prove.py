"""The proof of a handout in a temporary folder: stubs count as not started, and the solution passes all tests."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from grader.base.errors import GraderError
from grader.commands.package.write import spread
from torchkata.course import course


def prove(files: Mapping[str, bytes], katas: Sequence[str], examples: int) -> None:
    """Run the handout's tests on the stubs and on the solution. Raises GraderError if the outcome is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        spread(files, Path(folder))
        demand("untouched", "not_started", Path(folder), katas, examples)
        for kata in katas:
            solution = course().solution(kata).read_bytes()
            (Path(folder) / "assignment" / f"{kata}.py").write_bytes(solution)
        demand("with the solution", "done", Path(folder), katas, examples)


def demand(how: str, status: str, folder: Path, katas: Sequence[str], examples: int) -> None:
    """Run all tests; raise GraderError unless every kata has this status."""
    hidden = ("PYTEST", "PYTHONPATH")  # use the handout's own modules and settings
    environment = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
    command = [sys.executable, "-m", "pytest", f"--examples={examples}"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    try:
        stored = json.loads((folder / ".kata/progress.json").read_text())["runs"]
    except OSError:
        raise GraderError(f"the handout's tests do not run: {(done.stdout + done.stderr)[-1000:]}") from None
    found = {kata: stored.get(kata, {}).get("status", "not run") for kata in katas}
    if other := {kata: ended for kata, ended in found.items() if ended != status}:
        listed = ", ".join(f"{kata} {ended}" for kata, ended in other.items())
        raise GraderError(f"the handout, {how}: {listed}; each should be {status}\n{done.stdout[-3000:]}")

#!/usr/bin/env python3
"""Grades a checkout of the student's repository and writes `result.json`. Classroom 50 runs this script."""

import os
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main() -> None:
    """Install the grader, grade and export. If a step fails, raise CalledProcessError, which the runner reports."""
    checkout = Path.cwd()
    options = (HERE / "options").read_text().split()
    with tempfile.TemporaryDirectory() as work:
        subprocess.run(["bash", HERE / "install.sh", work], cwd=work, check=True)
        python = os.environ.get("TORCHKATA_PYTHON") or f"{work}/venv/bin/python"
        grader = [python, "-I", f"{HERE}/run.py", "grader", "--course", f"{HERE}/torchkata"]
        grade = [*grader, "grade", str(checkout), "--out", f"{work}/results", "--isolation", "bwrap", *options]
        subprocess.run(grade, cwd=work, check=True)
        export = [*grader, "export", f"{work}/results", "--format", "classroom50", "--to", f"{checkout}/result.json"]
        environment = {**os.environ, "SUBMITTED_AT": submitted_at(checkout)}
        subprocess.run(export, cwd=work, env=environment, check=True)


def submitted_at(checkout: Path) -> str:
    """Return the time of the commit. With the current time, a regrade would make submissions late."""
    log = ["git", "log", "-1", "--format=%cI"]
    return subprocess.run(log, cwd=checkout, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    main()

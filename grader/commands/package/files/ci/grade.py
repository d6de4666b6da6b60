"""Grades the repository in the current directory, and always writes a summary: python3 -I grade.py WORK [KEEP]

The grader is installed in WORK, where `results/` and `summary.md` are written. If KEEP is given, they are copied there.
Exit codes: 0 enough points; 1 fewer points, or the submission can't be read; 3 it could not be graded.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
UNSURE = 3  # exit code of `grader grade` if a test could not be graded
GRADED = (0, 2, UNSURE)  # exit codes of `grader grade` after which there may be a result
SHOWN = 10  # number of lines of an error message in the summary


class CommandError(Exception):
    """Raised if a command fails. The text is the end of its error messages."""


def main() -> None:
    """Grade, write the summary, and exit."""
    checkout, work = Path.cwd(), Path(sys.argv[1]).absolute()
    results, summary = work / "results", work / "summary.md"
    results.mkdir(mode=0o700, parents=True, exist_ok=True)  # where the grader then also stores why it refuses
    settings = json.loads((HERE / "ci.json").read_text("utf-8"))
    try:
        grade(checkout, work)
        code, line = judge(results, settings)
        text = summary.read_text("utf-8")
    except CommandError as error:
        code, line = UNSURE, settings["ci.failed"]
        text = "".join(f"    {each}\n" for each in str(error).splitlines()[-SHOWN:])
    text = f"**{line}**\n\n{text}" if line else text
    summary.write_text(text, "utf-8")
    if page := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(page).open("a", encoding="utf-8") as file:
            file.write(text)
    else:
        print(text)
    if len(sys.argv) > 2:
        shutil.copytree(results, Path(sys.argv[2]) / "results", dirs_exist_ok=True)
        shutil.copy(summary, sys.argv[2])
    print(line, file=sys.stderr)
    sys.exit(code)


def grade(checkout: Path, work: Path) -> None:
    """Install the grader, grade the checkout, and write the summary. Raises CommandError if a step fails."""
    run(work, ["bash", str(HERE / "install.sh"), str(work)])
    python = os.environ.get("TORCHKATA_PYTHON") or f"{work}/venv/bin/python"
    grader = [python, "-I", f"{HERE}/run.py", "grader", "--course", f"{HERE}/torchkata"]
    options = (HERE / "options").read_text("utf-8").split()
    command = [*grader, "grade", str(checkout), "--out", f"{work}/results", *options]
    done = run(work, command, GRADED)
    if done.returncode == UNSURE:  # only what could not be graded is graded again
        done = run(work, command, GRADED)
    if not any(work.glob("results/*/result.json")):  # for example because the sandbox does not work here
        raise CommandError(done.stderr)
    for format, path in (("junit", "results/junit.xml"), ("github", "summary.md")):
        run(work, [*grader, "export", f"{work}/results", "--format", format, "--out", f"{work}/{path}"])


def run(work: Path, command: list[str], expected: tuple[int, ...] = (0,)) -> subprocess.CompletedProcess[str]:
    """Run a command in WORK, not among the student's files. Raises CommandError for an unexpected exit code."""
    done = subprocess.run(command, cwd=work, stderr=subprocess.PIPE, text=True, errors="replace")
    sys.stderr.write(done.stderr)
    if done.returncode not in expected:
        raise CommandError(f"{done.stderr}{Path(command[0]).name}: exit code {done.returncode}")
    return done


def judge(results: Path, settings: dict[str, Any]) -> tuple[int, str]:
    """Return the exit code for the stored result, and the line that explains it."""
    (path,) = results.glob("*/result.json")
    result = json.loads(path.read_text("utf-8"))
    if result["unreadable"]:
        return 1, settings["ci.refused"]
    if any(kata["status"] == "inconclusive" for kata in result["katas"]):
        return UNSURE, settings["ci.unsure"]
    points, required = result["score"], settings["require"]
    if round(points - required, 6) < 0:  # sums of fractions may differ in the last digit
        most = result["max_score"]
        return 1, settings["ci.below"].format(points=f"{points:g}", most=f"{most:g}", required=f"{required:g}")
    return 0, ""


if __name__ == "__main__":
    main()

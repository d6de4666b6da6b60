"""Measure how processor time and peak memory grow with the size of a class, for all commands that read its results.

Run: python -m benchmarks.scale FOLDER [--sizes 50 500 5000 20000] [--only WORD]

FOLDER keeps a small class of real results: its submissions are put together from the solution, the zoo and the stubs,
and graded the first time. Larger classes are copies of it under new names. No two students write the same code, so in
the copies each file that differs from the stub has a comment of its own. The script measures processor time, because it
depends less on the load of the machine than wall time.
"""

import argparse
import itertools
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec

from benchmarks import ROOT
from benchmarks.timing import ENVIRONMENT
from grader.pipeline.queue import GradingOptions
from grader.pipeline.submission import read_submission
from grader.proof.zoo import load_right, load_wrong, read_package
from grader.results.dependencies import digest_result
from grader.results.load import list_results
from grader.results.result import read, write
from grader.results.source import FILE, load_submission
from torchkata.course import course

GRADER = ["-m", "grader"]
GRADED = [*GRADER, "grade", "SUBMISSIONS", "--out", "RESULTS"]
PARSE = "from grader.results.load import read_all; read_all(Path(sys.argv[1]), lambda _: None)"
REBUILD = "from grader.output.summary import rebuild; rebuild(Path(sys.argv[1]))"
FIELDS = {
    **dict.fromkeys(("classroom", "assignment", "owner", "commit", "release", "review"), "x"),
    **{"submission": "submit/1", "datetime": "2026-10-01T12:00:00Z"},
}
FORMATS = {
    "gradescope": [],
    "classroom50": [word for name, value in FIELDS.items() for word in ("--field", f"{name}={value}")],
    "junit": [],
    "github": [],
    **{name: ["--class", "PEOPLE", "--gradebook", f"PEOPLE/{name}.csv"] for name in ("canvas", "moodle", "csv")},
}
COLUMNS = {"canvas": ("ID,SIS Login ID", "Grade"), "moodle": ("Username", "Grade"), "csv": ("id", "Grade")}
COMMANDS = {
    "open and parse": ["-c", f"import sys; from pathlib import Path; {PARSE}", "RESULTS"],
    "gradebook": ["-c", f"import sys; from pathlib import Path; {REBUILD}", "RESULTS"],
    "grade, all graded": GRADED,
    "report": [*GRADER, "report", "RESULTS"],
    "report --feedback": [*GRADER, "report", "RESULTS", "--class", "PEOPLE", "--feedback", "TO"],
    "marks": [*GRADER, "marks", "RESULTS", "PEOPLE"],
    "diff": [*GRADER, "diff", "RESULTS", "RESULTS"],
    **{
        f"export {name}": [*GRADER, "export", "RESULTS", "--format", name, "--to", "TO", *options]
        + (["--column", COLUMNS[name][1]] if name in COLUMNS else [])
        for name, options in FORMATS.items()
    },
}


def main() -> None:
    """Print a table with a row for each command and size."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sizes", type=int, nargs="+", default=[50, 500, 5000, 20000])
    parser.add_argument("--graded", type=int, default=40, help="number of submissions that are graded")
    parser.add_argument("--only", default="", help="measure only the commands whose name contains this word")
    options = parser.parse_args()
    graded = options.folder.absolute()
    if not (graded / "results" / "gradebook.csv").exists():
        make_submissions(graded / "submissions", options.graded)
        run([put_paths(word, str(graded)) for word in GRADED])
    print(f"{'command':18} {'submissions':>11} {'CPU seconds':>11} {'÷ submissions':>15} {'peak MiB':>9}")
    for size in options.sizes:
        with tempfile.TemporaryDirectory(dir=graded) as folder:
            make_class(graded, Path(folder), size)
            for name, command in COMMANDS.items():
                if options.only in name:
                    to = f"{folder}/{name.replace(' ', '_')}"
                    seconds, peak = run([put_paths(word, folder, to) for word in command])
                    print(
                        f"{name:18} {size:11,} {seconds:11.2f} {1000 * seconds / size:12.1f} ms {peak:9.0f}", flush=True
                    )
            if (page := Path(folder, "results", "report.html")).exists():
                print(f"{page.name:18} {size:11,} {page.stat().st_size / 1e6:11.1f} MB")


def put_paths(word: str, folder: str, to: str = "") -> str:
    """Replace placeholders in an argument: SUBMISSIONS, RESULTS and PEOPLE with paths in `folder`, and TO with `to`."""
    for name in ("SUBMISSIONS", "RESULTS", "PEOPLE"):
        word = word.replace(name, f"{folder}/{name.lower()}")
    return to if word == "TO" else word


def make_submissions(folder: Path, count: int) -> None:
    """Write submissions of the graded katas. Students differ in how far they got and how many mistakes they made."""
    chance = random.Random(0)
    katas = course().choose([], course().graded)
    solutions, stubs = course().solutions(), read_package(course().assignment)
    right = {kata.name: [entry.source for entry in load_right(kata)] for kata in katas}
    wrong = {kata.name: [entry.source for entry in load_wrong(kata)] for kata in katas}
    for number in range(count):
        to = folder / f"student{number:05}"
        to.mkdir(parents=True, exist_ok=True)
        mistakes, reach = chance.random() / 2, chance.choice([*range(len(katas)), *[len(katas)] * 2 * len(katas)])
        for place, kata in enumerate(katas):
            file = f"{kata.name}.py"
            code = chance.choice([solutions[file].decode(), *right[kata.name]])
            code = chance.choice(wrong[kata.name]) if chance.random() < mistakes else code
            (to / file).write_bytes(code.encode() if place < reach else stubs[file])


def make_class(graded: Path, to: Path, size: int) -> None:
    """Write a class of this size: a class list, and copies of the graded submissions and their results."""
    stubs = {name: code.decode() for name, code in read_package(course().assignment).items()}
    originals = [read(path) for path in list_results(graded / "results").values()]
    for number, original in zip(range(size), itertools.cycle(originals)):
        name, source = f"student{number:05}", graded / "submissions" / original.submission
        options = GradingOptions(original.seed, original.examples, "auto", tuple(kata.kata for kata in original.katas))
        valid = digest_result(
            read_submission(source).files, options.select_dependencies()
        )  # also after a change of code
        write(msgspec.structs.replace(original, submission=name, fingerprint=valid), to / "results")
        shutil.copytree(source, to / "submissions" / name)
        stored = load_submission(graded / "results", original.submission, original.fingerprint)
        if stored is None:
            raise RuntimeError(f"{original.submission}: its files are not stored")
        stored = msgspec.structs.replace(stored, fingerprint=valid)
        for file, code in stored.files.items():
            if code.text != stubs.get(file):
                stored.files[file] = msgspec.structs.replace(code, text=f"{code.text}# by {name}\n")
        (to / "results" / name / FILE).write_bytes(msgspec.json.format(msgspec.json.encode(stored), indent=1))
    for seed in (graded / "results").glob(".seed*"):
        shutil.copy(seed, to / "results")
    (to / "results").chmod(0o700)
    names = [f"student{number:05}" for number in range(size)]
    people = [
        "id,name,email,lms_id",
        *(f"{name},Student {name[7:]},{name}@school.example,{name[7:]}" for name in names),
    ]
    (to / "people").mkdir()
    (to / "people" / "class.csv").write_text("\n".join(people) + "\n")
    for format, (keys, grade) in COLUMNS.items():
        rows = [f"{keys},{grade}", *(f"{','.join([name] * (1 + keys.count(',')))}," for name in names)]
        (to / "people" / f"{format}.csv").write_text("\n".join(rows) + "\n")


def run(arguments: list[str]) -> tuple[float, float]:
    """Run a command. Return its processor time in seconds and peak memory in MiB. Raises RuntimeError if it fails."""
    process = subprocess.Popen([sys.executable, *arguments], cwd=ROOT, env=ENVIRONMENT, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise RuntimeError(f"python {' '.join(arguments)} exited with {process.returncode}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 2**10


if __name__ == "__main__":
    main()

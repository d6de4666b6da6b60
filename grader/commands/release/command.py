"""The `grader release` command, which checks a handout, optionally runs its tests, and writes it."""

import ast
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from grader.base.errors import CallError, GraderError, convert_write_errors
from grader.base.text import count
from grader.commands.package.platform_package import spread
from grader.commands.release.contents import build_handout
from grader.commands.release.contract import find_differences, find_written
from grader.commands.release.notebooks import make_notebooks
from grader.options import ReleaseOptions
from grader.pipeline.selection import select_names
from torchkata.course import Kata, course, handout, is_course, read_course

REPLACED = ("assignment", "torchkata", "reference", "tests")  # folders that are deleted before a new release is written
ENGINE = ".kata/engine"  # where --prove unpacks the engine
PROTECTED = (*REPLACED, "docs", "grader", "examples", "benchmarks", "scripts")


def run_release(options: ReleaseOptions) -> int:
    """Write the handout and return the exit code.

    Before anything is written, raises CallError, or GraderError if the handout would need a file of the instructor.
    """
    out = options.out
    check_output(out, force=options.force, update=options.update)
    if options.repository and not options.notebooks:
        raise CallError("--repository needs --notebooks")
    chosen = find_released(out) if options.update and not options.katas else select_names(options.katas)
    katas = course().with_prerequisites(chosen)
    names = [kata.name for kata in katas]
    check_stubs(katas)
    language = options.language or (read_course(out).languages if options.update else course().languages)[0]
    if language not in course().languages:
        raise CallError(f"--language {language}: the course's languages are {', '.join(course().languages)}")
    files = build_handout(katas, language)
    if options.notebooks:
        files |= make_notebooks(katas, files, language, options.repository)
    if options.prove:
        prove(files, names, options.examples)
    try:
        with convert_write_errors(out):
            if options.update:
                print_update(handout.update(out, files))
            else:
                for folder in (out / name for name in REPLACED):
                    if folder.exists():
                        shutil.rmtree(folder)
                spread(files, out)
    except handout.HandoutError as error:
        raise CallError(f"{out}: was released by a version that is too old for --update ({error} is missing)") from None
    print(f"{out}: {count(len(files), 'file')}, {count(len(names), 'kata')}: {', '.join(names)}")
    if more := [name for name in names if name not in chosen]:
        print(f"included because others build on them: {', '.join(more)}")
    if not options.update:
        print("next:     publish the folder; its README.md says how students install it")
    if options.prove:
        print("proven: all stubs count as not started, and with the solution all katas are done")
    return 0


def print_update(done: handout.Updated) -> None:
    """Print the changes made by an update, and the steps that students must perform themselves."""
    print(f"updated: {count(len(done.new), 'file')} added or changed, {len(done.gone)} removed")
    for name, backup in done.backups.items():
        print(f"kept:    {name} had been changed; the old version is now {backup}")
    if handout.REQUIREMENTS in done.new:
        print(f"next:    after `kata update`, students run `pip install -r {handout.REQUIREMENTS}` (or `uv sync`)")
    if done.missing:
        print(f"stubs:   {', '.join(done.missing)}: not in assignment/; add it with `kata reset NAME`")
    if done.changed:
        print(f"stubs:   {', '.join(done.changed)}: changed; assignment/ keeps the earlier version")


def check_output(out: Path, *, force: bool, update: bool = False) -> None:
    """Raise CallError if OUT is part of this project, or if OUT exists and is not a handout that may be overwritten."""
    place, root = out.resolve(), course().root
    if force and update:
        raise CallError("--update keeps assignment/ and --force overwrites it: use one of them")
    if place == root or place in root.parents or any(place.is_relative_to(root / name) for name in PROTECTED):
        raise CallError(f"{out}: is part of this project; choose another directory")
    if out.exists() and not out.is_dir():
        raise CallError(f"{out}: is a file; choose a directory")
    if out.exists() and any(out.iterdir()):
        if not force and not update:
            raise CallError(f"{out}: is not empty; use --update to update a handout")
        if not is_handout(out):
            raise CallError(f"{out}: is neither empty nor a handout; choose another directory")
        if force and (edited := find_edited(out)):
            raise CallError(f"{edited}: was edited, and --force would overwrite it; --update keeps it")
    elif update:
        raise CallError(f"{out}: contains no handout to update")


def find_edited(out: Path) -> Path | None:
    """Return a file in a handout's `assignment/` that has been added or edited, or None if there is none."""
    for path in sorted((out / handout.STUDENTS).rglob("*")):
        skipped = path.name == "__init__.py" or "__pycache__" in path.parts or path.is_dir()
        if not skipped and handout.digest_of(out / handout.STUBS / path.name) != handout.digest_of(path):
            return path
    return None


def is_handout(out: Path) -> bool:
    """Return whether an earlier `grader release` has written this directory."""
    return (out / handout.STUBS).is_dir() and is_course(out) and not handout.is_self_study(out)


def find_released(out: Path) -> tuple[str, ...]:
    """Return the katas of a handout that still exist in the course."""
    return tuple(name for name in course().katas if (out / handout.stub_of(name)).is_file())


def check_stubs(katas: Sequence[Kata]) -> None:
    """Raise CallError if a stub is missing, is already implemented, or has an interface unlike that of its solution."""
    if not course().solutions():
        raise CallError("this course has no solutions; run release in the instructor's checkout, or write them first")
    for kata in katas:
        remedy = f"; write it, or delete {course().folder(kata.name)}"
        for path in (course().stub(kata.name), course().solution(kata.name)):
            if not path.is_file():
                raise CallError(f"{path}: there is no such file, but the handout needs it{remedy}")
            ast.parse(path.read_bytes(), str(path))  # with the file name, for SyntaxError
        stub, solution = (path.read_text("utf-8") for path in (course().stub(kata.name), course().solution(kata.name)))
        if written := find_written(stub):
            raise CallError(f"assignment/{kata.name}.py: {written[0]} is already implemented; release needs stubs")
        if found := find_differences(stub, solution):
            raise CallError(f"assignment/{kata.name}.py: {found[0]}")


def prove(files: Mapping[str, bytes], katas: Sequence[str], examples: int) -> None:
    """Run the handout's tests on the stubs and on the solution, with the engine in its wheel.

    Raises GraderError if a kata has the wrong status.
    """
    with tempfile.TemporaryDirectory() as folder:
        spread(files, Path(folder))
        with zipfile.ZipFile(Path(folder) / handout.WHEEL.format(version=handout.find_engine(Path(folder)))) as wheel:
            wheel.extractall(Path(folder) / ENGINE)
        demand("untouched", "not_started", Path(folder), katas, examples)
        for kata in katas:
            solution = course().solution(kata).read_bytes()
            (Path(folder) / "assignment" / f"{kata}.py").write_bytes(solution)
        demand("with the solution", "done", Path(folder), katas, examples)


def demand(how: str, status: str, folder: Path, katas: Sequence[str], examples: int) -> None:
    """Run all tests of the handout. Raises GraderError unless every kata has this status."""
    hidden = ("PYTEST", "PYTHONPATH")  # use the handout's own modules and settings
    environment = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
    environment["PYTHONPATH"] = str(folder / ENGINE)
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

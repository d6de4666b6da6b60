"""`grader release`: checks a handout, writes it, and proves it if asked."""

import ast
import shutil
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.base.errors import CallError, GraderError
from grader.commands.package.write import spread
from grader.commands.release.contents import contents, with_foundations
from grader.commands.release.contract import differences, written_already
from grader.commands.release.leaks import leaks
from grader.commands.release.notebooks import notebooks
from grader.commands.release.prove import prove
from torchkata.course import Kata, course, handout, read_course

REPLACED = ("assignment", "torchkata", "reference", "tests")  # as a whole: no file of an older handout stays in them
OURS = (*REPLACED, "docs", "grader", "examples", "benchmarks", "scripts")


@dataclass(frozen=True)
class Options:
    """The options of `grader release`."""

    katas: tuple[str, ...]
    language: str | None
    force: bool
    update: bool
    prove: bool
    examples: int
    notebooks: bool
    repository: str | None  # from where a notebook that stands alone clones the handout


def run_release(out: Path, options: Options) -> int:
    """Write the handout; the exit code. Raises CallError before anything is written, GraderError for what leaks."""
    refuse(out, force=options.force, update=options.update)
    if options.repository and not options.notebooks:
        raise CallError("--repository is for --notebooks")
    katas = with_foundations(options.katas)
    names = [kata.name for kata in katas]
    fit(katas)
    language = options.language or (read_course(out).languages if options.update else course().languages)[0]
    if language not in course().languages:
        raise CallError(f"--language is {language!r}; the course has {', '.join(course().languages)}")
    files = contents(katas, language)
    if options.notebooks:
        files |= notebooks(katas, files, language, options.repository)
    if found := leaks(files):
        raise GraderError("\n".join(["the handout would give away what stays with you:", *found]))
    if options.prove:
        prove(files, names, options.examples)
    try:
        if options.update:
            tell(handout.update(out, files))
        else:
            for folder in (out / name for name in REPLACED):
                if folder.exists():
                    shutil.rmtree(folder)
            spread(files, out)
    except handout.HandoutError as error:
        raise CallError(f"{out}: it was released before there were updates ({error} is missing)") from None
    except OSError as error:
        raise CallError(f"{out}: can't write there ({error.strerror})") from None
    print(f"{out}: {len(files)} files, {len(names)} katas: {', '.join(names)}")
    if more := [name for name in names if name not in options.katas]:
        print(f"with what they build on: {', '.join(more)}")
    if options.prove:
        print("proven: all stubs are not started, and with the solution in their place all is done")
    return 0


def tell(done: handout.Updated) -> None:
    """What an update has done, and what it has left to others."""
    print(f"updated: files that are new or other than before: {len(done.new)}, that are gone: {len(done.gone)}")
    for name, backup in done.backups.items():
        print(f"kept:    {name}, which was changed there, as {backup}")
    if done.missing:
        print(f"stubs:   {', '.join(done.missing)}: not in assignment/; `kata reset NAME` puts it there")
    if done.changed:
        print(f"stubs:   {', '.join(done.changed)}: changed; assignment/ has what was handed out")


def refuse(out: Path, *, force: bool, update: bool = False) -> None:
    """Raise CallError for an OUT that would be written over and is no handout, or that is this project."""
    place, root = out.resolve(), course().root
    if force and update:
        raise CallError("--update keeps assignment/, and --force writes over it: take one of them")
    if place == root or place in root.parents or any(place.is_relative_to(root / name) for name in OURS):
        raise CallError(f"{out}: a handout is written to a folder of its own, not over this project")
    if out.exists() and not out.is_dir():
        raise CallError(f"{out}: it is a file; the handout is a directory")
    if out.exists() and any(out.iterdir()):
        if not force and not update:
            raise CallError(f"{out}: there is something already; --update brings a handout up to date")
        if not is_handout(out):
            raise CallError(f"{out}: there is something already, and it is no handout")
        if force and (own := written_in(out)):
            raise CallError(f"{own}: it is written, and --force would write over it; --update keeps it")
    elif update:
        raise CallError(f"{out}: there is no handout to update")


def written_in(out: Path) -> Path | None:
    """A file in a handout's `assignment/` that is no untouched stub, if there is any."""
    for path in sorted((out / handout.STUDENTS).rglob("*")):
        ours = path.name == "__init__.py" or "__pycache__" in path.parts or path.is_dir()
        if not ours and handout.digest_of(out / handout.STUBS / path.name) != handout.digest_of(path):
            return path
    return None


def is_handout(out: Path) -> bool:
    """Whether an earlier `grader release` has written this."""
    try:
        project = tomllib.loads((out / "pyproject.toml").read_text("utf-8"))["project"]
    except (OSError, ValueError, KeyError):
        return False
    return bool(project.get("name") == "torchkata") and (out / handout.STUBS).is_dir()


def handed_out(out: Path) -> tuple[str, ...]:
    """The katas of a handout that the course still has."""
    return tuple(name for name in course().katas if (out / handout.stub_of(name)).is_file())


def fit(katas: Sequence[Kata]) -> None:
    """Raise CallError where a stub is missing, is written already, or differs from its solution in what others see."""
    for kata in katas:
        for path in (course().stub(kata.name), course().solution(kata.name)):
            if not path.is_file():
                raise CallError(f"{path}: there is no such file, and the handout is made of it")
            ast.parse(path.read_bytes(), str(path))  # whose error tells the file
        stub, solution = (path.read_text("utf-8") for path in (course().stub(kata.name), course().solution(kata.name)))
        if written := written_already(stub):
            raise CallError(f"assignment/{kata.name}.py is no stub any more: {written[0]} is written")
        if found := differences(stub, solution):
            raise CallError(f"assignment/{kata.name}.py: {found[0]}")

"""Writes a package: a zip for Gradescope, files to add to a repository for the others."""

import math
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.base.errors import CallError
from grader.commands.package import project
from grader.commands.package.platforms import ABOUT, COMMON, FILES, Platform, load_platform
from grader.output.formats import gradescope
from grader.results.result import write_whole
from grader.sandbox.launch import GRADER_MIB
from torchkata.course import course
from torchkata.course.submission import zip_files

WORKFLOW = "grade.yml"


@dataclass(frozen=True)
class Options:
    """The options of `grader package`."""

    source: str | None
    seed: int
    examples: int
    katas: tuple[str, ...]
    force: bool


def run_package(name: str, out: Path, options: Options) -> int:
    """Write the package; return the exit code. Raises CallError before anything is written."""
    platform = load_platform(name)
    unseen = tests_not_visible()
    refuse(platform, out, force=options.force)
    files = contents(platform, options)
    try:
        if platform.is_zip:
            out.parent.mkdir(parents=True, exist_ok=True)
            write_whole(out, zip_files(files, mode))
        else:
            shutil.rmtree(out / platform.folder / "torchkata", ignore_errors=True)
            spread(files, out)
    except OSError as error:
        raise CallError(f"{out}: can't write there ({error.strerror})") from None
    print(f"{out}: {platform.next.format(gigabytes=gigabytes())}")
    if platform.hides_totals and unseen:
        print(f"note: {unseen} tests are hidden from students, so {platform.title} hides the total as well")
    return 0


def tests_not_visible() -> int:
    """How many there are. Raises CallError for a course that contradicts itself."""
    try:
        return sum(seen != "visible" for kata in course().katas.values() for seen in kata.visibility.values())
    except ValueError as error:
        raise CallError(str(error)) from None


def contents(platform: Platform, options: Options) -> dict[str, bytes]:
    """The files of a package, by path. Raises CallError."""
    folder = platform.folder
    sources = [path for name in (COMMON, platform.name) for path in project.files_of(FILES / name)]
    written = {path.name: path.read_bytes() for path in sources if path.name != ABOUT}
    workflow = {f".github/workflows/{WORKFLOW}": written.pop(WORKFLOW)} if WORKFLOW in written else {}
    asked = f"--seed {options.seed} --examples {options.examples} --kata {','.join(options.katas)}\n"
    written |= {"options": asked.encode(), "requirements.txt": project.requirements()}
    if "killed.py" in written:
        written["killed.json"] = gradescope.ended_early(gigabytes())
    if options.source is not None:
        written["source"] = project.origin(options.source)
    else:
        written |= {f"torchkata/{name}": content for name, content in project.copy().items()}
    return workflow | {f"{folder}{name}": content for name, content in written.items()}


def gigabytes() -> float:
    """The memory for a grader and a student's code at its limit."""
    return math.ceil((GRADER_MIB + course().limits.memory_mib) * 2**20 / 10**8) / 10


def refuse(platform: Platform, out: Path, *, force: bool) -> None:
    """Raise CallError for an OUT of the wrong kind, or one that would be written over."""
    if platform.is_zip and (out.suffix != ".zip" or out.is_dir()):
        raise CallError(f"{out}: {platform.title} takes a zip, so OUT must be a file that ends in .zip")
    if not platform.is_zip and out.exists() and not out.is_dir():
        raise CallError(f"{out}: it is a file; {platform.title} takes a directory")
    if not force and out.exists() and (out.is_file() or any(out.iterdir())):
        raise CallError(f"{out}: there is something already; --force writes over it")


def spread(files: Mapping[str, bytes], folder: Path) -> None:
    """Write the files below a folder, which keeps what else is in it."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(mode(content))


def mode(content: bytes) -> int:
    """A script can be run."""
    return 0o755 if content.startswith(b"#!") else 0o644

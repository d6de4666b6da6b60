"""Writes a package: a zip for Gradescope, or files to add to a repository for other platforms.

Each platform has a folder in `files/`, which contains its files and a `platform.toml`.
"""

import json
import math
import shutil
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.base.errors import CallError, convert_write_errors
from grader.base.text import count
from grader.commands.package import project
from grader.output.formats import gradescope
from grader.pipeline import seed as secret
from grader.results.result import write_whole
from grader.sandbox.launch import GRADER_MIB
from torchkata.course import HIDDEN_PROGRAMS, course
from torchkata.course.submission import zip_files
from torchkata.i18n import class_words

FILES = Path(__file__).with_name("files")
COMMON = "common"  # the folder with the files for all platforms
CI = "ci"  # the folder with the files for platforms that grade a checkout of the student's repository
CLASS = "class"  # the folder with the files for jobs that grade the repositories of a class
REPOSITORIES = "repositories.txt"  # the list of these repositories, which the instructor edits
ABOUT = "platform.toml"
WORKFLOW = "grade.yml"


@dataclass(frozen=True)
class Platform:
    """The contents of a `platform.toml`."""

    name: str
    title: str
    next: str  # what to do with the package, printed after it is written
    folder: str = ""  # directory of the files inside the package
    workflow: str = ""  # path of the WORKFLOW in a repository
    isolation: str = "auto"
    is_ci: bool = False  # whether it grades a checkout of the student's repository
    is_class: bool = False  # whether it clones and grades the repositories of a class
    is_public: bool = False  # whether students can read the package; it then has no seed, hidden programs or fallbacks
    is_zip: bool = False  # whether the package is a zip to upload rather than files for a repository
    hides_totals: bool = False  # whether the platform hides the total score if a test is hidden from students


@dataclass(frozen=True)
class Grading:
    """What a package grades."""

    katas: Sequence[str]
    examples: int
    seed: int | None = None  # None for a new secret seed
    require: float | None = None  # the points below which a job fails; None for all points

    @property
    def max_score(self) -> float:
        """The points of the katas."""
        return sum(course().katas[name].max_score for name in self.katas)

    def make_options(self, platform: Platform) -> str:
        """Return the options of `grader grade`. A public package without a seed draws a new one whenever it runs."""
        seed = secret.draw() if self.seed is None and not platform.is_public else self.seed
        options = [f"--isolation {platform.isolation}", *([] if seed is None else [f"--seed {seed}"])]
        return " ".join([*options, f"--examples {self.examples}", f"--kata {','.join(self.katas)}"])

    def make_settings(self, platform: Platform) -> bytes:
        """Return the settings of `grade.py`, and its sentences in the language of the class."""
        required = (self.max_score if self.require is None else self.require) if platform.workflow else 0.0
        figures = {name: f"{{{name}}}" for name in ("points", "most", "required")}  # filled in by `grade.py`
        texts = {key: class_words(key, **figures) for key in ("ci.below", "ci.failed", "ci.refused", "ci.unsure")}
        return json.dumps({"require": required, **texts}, ensure_ascii=False, indent=1).encode()


def run_package(name: str, out: Path, grading: Grading, source: str | None, *, force: bool) -> int:
    """Write a package, and return the exit code. Invalid arguments raise CallError before anything is written."""
    platform = Platform(name, **tomllib.loads((FILES / name / ABOUT).read_text("utf-8")))
    if grading.require is not None and not (platform.workflow and platform.is_ci):
        raise CallError("--require is for github and gitlab, where a job fails below these points")
    if grading.require is not None and grading.require > grading.max_score:
        raise CallError(f"--require {grading.require:g}: these katas have only {grading.max_score:g} points")
    hidden = sum(seen != "visible" for kata in course().katas.values() for seen in kata.visibility.values())
    check_output(platform, out, force=force)
    files = build_package(platform, grading, source)
    with convert_write_errors(out):
        if platform.is_zip:
            out.parent.mkdir(parents=True, exist_ok=True)
            write_whole(out, zip_files(files, file_mode))
        else:
            shutil.rmtree(out / platform.folder / "torchkata", ignore_errors=True)
            if (out / REPOSITORIES).exists():
                files.pop(REPOSITORIES, None)
            spread(files, out)
    programs = [name for name in grading.katas if (course().folder(name) / HIDDEN_PROGRAMS).is_file()]
    print(f"{out}: {platform.next.format(gigabytes=needed_gigabytes())}")
    if platform.hides_totals and hidden:
        tests = f"{count(hidden, 'test')} {'is' if hidden == 1 else 'are'}"
        print(f"note: {tests} hidden from students, so {platform.title} hides the total as well")
    if platform.is_public and any(map(course().prerequisites, grading.katas)) and source is None:
        print(
            "note: students can read this package, so it contains no fallbacks: a kata that builds on another one is "
            "tested with the student's own files"
        )
    if platform.is_public and programs and source is None:
        print(
            f"note: students can read this package, so it grades {', '.join(programs)} with the programs of the "
            "handout; grade these katas yourself"
        )
    return 0


def build_package(platform: Platform, grading: Grading, source: str | None) -> dict[str, bytes]:
    """Return the files of a package, keyed by path. Raises CallError if `source` is invalid."""
    folder = platform.folder
    folders = [COMMON, *([CI] if platform.is_ci else []), *([CLASS] if platform.is_class else []), platform.name]
    sources = [path for name in folders for path in project.files_of(FILES / name)]
    written = {path.name: path.read_bytes() for path in sources if path.name != ABOUT}
    workflow = {platform.workflow: written.pop(WORKFLOW)} if platform.workflow else {}
    options = grading.make_options(platform)
    written |= {"options": f"{options}\n".encode(), "requirements.txt": project.requirements()}
    if platform.is_ci:
        written["ci.json"] = grading.make_settings(platform)
    if "killed.py" in written:
        written["killed.json"] = gradescope.render_out_of_memory(needed_gigabytes())
    if source is not None:
        written["source"] = project.parse_source(source)
    else:
        copied = project.copy_project(grading.katas, is_public=platform.is_public)
        written |= {f"torchkata/{name}": content for name, content in copied.items()}
    outside = workflow | {name: written.pop(name) for name in [REPOSITORIES] if name in written}
    return outside | {f"{folder}{name}": content for name, content in written.items()}


def needed_gigabytes() -> float:
    """Return how many gigabytes of memory the grader needs together with student code that reaches its memory limit."""
    return math.ceil((GRADER_MIB + course().limits.memory_mib) * 2**20 / 10**8) / 10


def check_output(platform: Platform, out: Path, *, force: bool) -> None:
    """Raise CallError if OUT has the wrong type, or if it already exists and `force` is not set."""
    if platform.is_zip and (out.suffix != ".zip" or out.is_dir()):
        raise CallError(f"{out}: must end in .zip, because {platform.title} expects a zip file")
    if not platform.is_zip and out.exists() and not out.is_dir():
        raise CallError(f"{out}: must be a directory for {platform.title}, not a file")
    if not force and out.exists() and (out.is_file() or any(out.iterdir())):
        raise CallError(f"{out}: is not empty; use --force to overwrite it")


def spread(files: Mapping[str, bytes], folder: Path) -> None:
    """Write the files into a folder without removing other files."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(file_mode(content))


def file_mode(content: bytes) -> int:
    """Return the permissions of a file. Scripts are executable."""
    return 0o755 if content.startswith(b"#!") else 0o644

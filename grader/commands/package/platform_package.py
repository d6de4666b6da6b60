"""Writes a package: a zip for Gradescope, or files to add to a repository for other platforms.

Each platform has a folder in `files/`, which contains its files and a `platform.toml`.
"""

import json
import math
import re
import shutil
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from grader.base.errors import CallError, convert_write_errors
from grader.base.files import write_whole
from grader.base.text import count
from grader.commands.package import project
from grader.options import PackageOptions
from grader.output.formats import gradescope
from grader.pipeline import seed as secret
from grader.sandbox.launch import GRADER_MIB
from torchkata.course import HIDDEN_PROGRAMS, course
from torchkata.course.submission import zip_files
from torchkata.i18n import class_language, translate
from torchkata.inside.text import Text

FILES = Path(__file__).with_name("files")
COMMON = "common"  # the folder with the files for all platforms
CI = "ci"  # the folder with the files for platforms that grade a checkout of the student's repository
CLASS = "class"  # the folder with the files for jobs that grade the repositories of a class
REPOSITORIES = "repositories.txt"  # the list of these repositories, which the instructor edits
ABOUT = "platform.toml"
WORKFLOW = "grade.yml"
SENTENCES: dict[str, Text] = {  # what `grade.py` says, after filling in the {figures}
    "ci.below": Text("{points} of {most} points. This job needs {required}."),
    "ci.failed": Text(
        "The grader failed. This is not your fault: run this job again, and if that does not help, show this page to "
        "your instructor."
    ),
    "ci.refused": Text("This repository can't be graded. The reason is below."),
    "ci.unsure": Text(
        "Some tests could not be graded. This is not your fault: run this job again, and if that does not help, tell "
        "your instructor."
    ),
}


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


def make_options(options: PackageOptions, platform: Platform) -> str:
    """Return the options of `grader grade`. A public package without a seed draws a new one whenever it runs."""
    seed = secret.draw() if options.seed is None and not platform.is_public else options.seed
    typed = [f"--isolation {platform.isolation}", *([] if seed is None else [f"--seed {seed}"])]
    return " ".join([*typed, f"--examples {options.examples}", f"--kata {','.join(options.katas)}"])


def find_seed(path: Path) -> int | None:
    """Return the seed of a package that is written again, so that its results are kept, or None for a new package."""
    found = re.search(r"--seed (\d+)", path.read_text("utf-8")) if path.is_file() else None
    return int(found[1]) if found else None


def make_settings(options: PackageOptions, platform: Platform) -> bytes:
    """Return the settings of `grade.py`, and its sentences in the language of the class."""
    required = (sum_points(options) if options.require is None else options.require) if platform.workflow else 0.0
    texts = {key: translate(text, class_language()) for key, text in SENTENCES.items()}
    return json.dumps({"require": required, **texts}, ensure_ascii=False, indent=1).encode()


def sum_points(options: PackageOptions) -> float:
    """Return the points of all katas in the package."""
    return sum(course().katas[name].max_score for name in options.katas)


def run_package(name: str, options: PackageOptions) -> int:
    """Write a package, and return the exit code. Invalid arguments raise CallError before anything is written."""
    out, source = options.out, options.source
    if name not in (known := sorted(path.parent.name for path in FILES.glob(f"*/{ABOUT}"))):
        raise CallError(f"{name}: unknown platform; the platforms are {', '.join(known)}")
    platform = Platform(name, **tomllib.loads((FILES / name / ABOUT).read_text("utf-8")))
    if options.require is not None and not (platform.workflow and platform.is_ci):
        raise CallError("--require is for github and gitlab, where a job fails below these points")
    if options.require is not None and options.require > sum_points(options):
        raise CallError(f"--require {options.require:g}: these katas have only {sum_points(options):g} points")
    hidden = sum(seen != "visible" for kata in course().katas.values() for seen in kata.visibility.values())
    check_output(platform, out, force=options.force)
    if options.seed is None and not platform.is_public:
        options = replace(options, seed=find_seed(out / platform.folder / "options"))
    files = build_package(platform, options)
    with convert_write_errors(out):
        if platform.is_zip:
            out.parent.mkdir(parents=True, exist_ok=True)
            write_whole(out, zip_files(files, file_mode))
        else:
            shutil.rmtree(out / platform.folder / "torchkata", ignore_errors=True)
            if (out / REPOSITORIES).exists():
                files.pop(REPOSITORIES, None)
            spread(files, out)
    programs = [name for name in options.katas if (course().folder(name) / HIDDEN_PROGRAMS).is_file()]
    print(f"{out}: {platform.next.format(gigabytes=needed_gigabytes())}")
    if platform.hides_totals and hidden:
        tests = f"{count(hidden, 'test')} {'is' if hidden == 1 else 'are'}"
        print(f"note: {tests} hidden from students, so {platform.title} hides the total as well")
    if platform.is_public and any(map(course().prerequisites, options.katas)) and source is None:
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


def build_package(platform: Platform, options: PackageOptions) -> dict[str, bytes]:
    """Return the files of a package, keyed by path. Raises CallError if --source is invalid."""
    folder = platform.folder
    folders = [COMMON, *([CI] if platform.is_ci else []), *([CLASS] if platform.is_class else []), platform.name]
    sources = [path for name in folders for path in project.files_of(FILES / name)]
    written = {path.name: path.read_bytes() for path in sources if path.name != ABOUT}
    workflow = {platform.workflow: written.pop(WORKFLOW)} if platform.workflow else {}
    written |= {"options": f"{make_options(options, platform)}\n".encode(), "requirements.txt": project.requirements()}
    if platform.is_ci:
        written["ci.json"] = make_settings(options, platform)
    if "killed.py" in written:
        written["killed.json"] = gradescope.render_out_of_memory(needed_gigabytes())
    if options.source is not None:
        written["source"] = project.parse_source(options.source)
    else:
        copied = project.copy_project(options.katas, is_public=platform.is_public)
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

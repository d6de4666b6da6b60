"""The files of a handout: an allow-list, and what its files import of the course; nothing that is private there."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

from grader.base import distribution
from grader.base.errors import GraderError
from grader.base.imports import follow_imports
from grader.commands.package.project import files_of
from grader.commands.release.translated import in_two_languages
from torchkata.course import ENGINE, Kata, course, handout

FILES = Path(__file__).with_name("files")
PLACES = {
    "README.md": "README.md",
    "devcontainer.json": ".devcontainer/devcontainer.json",
    "gitignore": ".gitignore",
    "test.yml": ".github/workflows/test.yml",
    **{f"vscode/{name}.json": f".vscode/{name}.json" for name in ("extensions", "settings", "tasks")},
}
DOCUMENTS = ("docs/students.md", "docs/zh/students.md", "docs/katas.md")
FROM_THE_COURSE = ("conftest.py", "LICENSE", *DOCUMENTS, "assignment/__init__.py")
SPEED = "tests/test_speed.py"
ASSISTANTS = "AGENTS.md"  # how a coding assistant is asked to help; the course's own lies in docs/
GUIDES = {  # of the README, where the course has these documents
    "docs/students.md": "More, and how to read a failure: [docs/students.md](docs/students.md).",
    "docs/katas.md": "What each kata is about: [docs/katas.md](docs/katas.md).",
    "docs/zh/students.md": "中文：[docs/zh/students.md](docs/zh/students.md)。",
}
TORCH = " No GPU is needed; a GPU build of torch that you have already stays."
PIP = """\
On Linux, pip fetches torch with CUDA, gigabytes of it; `uv sync` does not. Without an NVIDIA GPU, type this before
`pip install -e .`: `pip install torch --index-url https://download.pytorch.org/whl/cpu`.

"""


def with_foundations(names: Sequence[str]) -> list[Kata]:
    """These katas and all that they build on, in order."""
    needed = {*names}.union(*(course().foundations(name) for name in names))
    return [kata for kata in course().katas.values() if kata.name in needed]


def contents(katas: Sequence[Kata], language: str = "en") -> dict[str, bytes]:
    """Every file of the handout, by path; the stubs in a language beside English, too, unless it is that.

    Raises GraderError where that needs what stays with the instructor.
    """
    root, names = course().root, [kata.name for kata in katas]
    files = {path.relative_to(root).as_posix(): path.read_bytes() for path in of_the_course(names)}
    for kata in katas:
        path, tasks = f"assignment/{kata.name}.py", kata.languages.get(language, {}).get("stub", {})
        files[path] = in_two_languages(files[path].decode(), f"{kata.name}.py", tasks).encode()
    files |= {f"torchkata/{name}": content for name, content in engine().items()}
    files |= {handout.stub_of(name): files[f"assignment/{name}.py"] for name in names}
    files |= {place: (FILES / name).read_bytes() for name, place in PLACES.items()}
    own = root / "docs" / ASSISTANTS
    if stance := (own if own.is_file() else FILES / ASSISTANTS).read_bytes().strip():
        files[ASSISTANTS] = stance + b"\n"
    files["README.md"] = readme(katas, [text for document, text in GUIDES.items() if document in files]).encode()
    files[".devcontainer/devcontainer.json"] = container(katas).encode()
    files["pyproject.toml"] = project_file(katas, language).encode()
    files[handout.LIST] = handout.listing(files)
    return dict(sorted(files.items()))


def of_the_course(names: Sequence[str]) -> set[Path]:
    """Stubs, tests and what is known of the katas, and what these import. Raises GraderError for what is private."""
    root, reference = course().root, course().reference
    known = [path for name in names for path in files_of(course().folder(name)) if not course().is_private(path)]
    asked = [root / f"{folder}{name}.py" for name in names for folder in ("assignment/", "tests/test_")]
    languages = [reference / f"{language}.toml" for language in course().languages]
    shared = [*languages, *(root / name for name in FROM_THE_COURSE)]
    timed = [name for name, workload in course().workloads.items() if {*names}.issuperset(workload.uses)]
    if timed:
        told = ["workloads.toml", *(f"{name}.py" for name in timed)]
        shared += [root / SPEED, *(reference / "workloads" / name for name in told)]
    tests = follow_imports([*known, *(path for path in asked if "assignment" not in path.parts), *shared])
    for path in sorted(tests):
        if path.is_relative_to(reference) and course().is_private(path):
            raise GraderError(f"the handout would need {path.relative_to(root)}, which stays with the instructor")
    return {path for path in {*tests, *asked} if path.is_relative_to(root) and not is_engine(path)}


def is_engine(path: Path) -> bool:
    """Whether a file is one of the engine's, which may lie in the course's folder."""
    return any(path.is_relative_to(ENGINE / package) for package in ("torchkata", "grader"))


def engine() -> dict[str, bytes]:
    """The students' half of the engine, by path."""
    folder = ENGINE / "torchkata"
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files_of(folder)}


def project_file(katas: Sequence[Kata], language: str) -> str:
    """What is installed, how pytest runs, and the course."""
    needed = json.dumps(sorted({*distribution.requirements(), *course().dependencies}), indent=4)
    written = (FILES / "pyproject.toml").read_text("utf-8") + (FILES / "uv.toml").read_text("utf-8") * needs_torch()
    return written.replace("dependencies = []", f"dependencies = {needed}") + settings(katas, language)


def needs_torch() -> bool:
    """Whether students install torch, whose builds for CPUs and for CUDA lie at several places."""
    return any(Requirement(one).name == "torch" for one in course().dependencies)


def container(katas: Sequence[Kata]) -> str:
    """A development container, with the first kata open."""
    written = (FILES / "devcontainer.json").read_text("utf-8")
    title = json.dumps(course().title, ensure_ascii=False)
    return written.replace('"TITLE"', title).replace("FIRST", f"assignment/{katas[0].name}.py")


def settings(katas: Sequence[Kata], language: str) -> str:
    """What the handout's `pyproject.toml` says of the course, and what its students install."""
    used = {kata.track for kata in katas}
    tracks = {name: track.title for name, track in course().tracks.items() if name in used}
    said = {
        "title": course().title,
        "languages": sorted(course().languages, key=lambda one: one != language),
        "preload": course().preload,
        "graded": [name for name in course().graded if name in used] or list(tracks),
    }
    lines = []
    tables: dict[str, dict[str, Any]] = {"": said, ".tracks": tracks, ".limits": vars(course().limits)}
    for name, entries in tables.items():
        lines += ["", f"[tool.torchkata{name}]"]
        lines += [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in entries.items()]
    return "\n".join(lines) + "\n"


def readme(katas: Sequence[Kata], guides: Sequence[str]) -> str:
    """What a student reads first: how to begin, what else there is to read, and the katas."""
    written = (FILES / "README.md").read_text("utf-8")
    said = {
        "TITLE": course().title,
        "TORCH": TORCH if needs_torch() else "",
        "PIP": PIP if needs_torch() else "",
        "GUIDES\n\n": "".join(f"{' '.join(guides)}\n\n" for _ in guides[:1]),
        "KATAS\n": table(katas),
    }
    for place, text in said.items():
        written = written.replace(place, text)
    return written


def table(katas: Sequence[Kata]) -> str:
    """The katas for the README, by track."""
    lines = []
    for track in course().tracks.values():
        chosen = [kata for kata in katas if kata.track == track.name]
        if chosen:
            lines += [f"**{track.title}**", "", "| file | what you build |", "|---|---|"]
            lines += [f"| `assignment/{kata.name}.py` | {kata.title} |" for kata in chosen] + [""]
    return "\n".join(lines)

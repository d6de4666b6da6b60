"""Collects the files of a handout: only files on an allowlist, and the files that they import."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

from grader.base.errors import GraderError
from grader.base.imports import PACKAGES, follow_imports
from grader.commands.package.project import files_of
from grader.commands.release.contract import translate_docstrings
from grader.commands.release.wheel import build_wheel
from torchkata.course import ENGINE, Kata, course, handout
from torchkata.course.load import WHOLE
from torchkata.i18n import find_text, find_texts
from torchkata.inside.source.text import VERSION

FILES = Path(__file__).with_name("files")
EDITOR = {
    "gitignore": ".gitignore",
    **{f"vscode/{name}.json": f".vscode/{name}.json" for name in ("extensions", "settings", "tasks")},
}
DOCUMENTS = (
    *(f"docs/{name}.md" for name in ("students", "katas", "lecture", "after", "glossary")),
    *(f"docs/zh/{name}.md" for name in ("students", "after", "glossary")),
)
PICTURES = "docs/images/katas/*.svg"
SHARED = ("conftest.py", "LICENSE", *DOCUMENTS, "assignment/__init__.py")
SPEED = "tests/test_speed.py"
ASSISTANTS = "AGENTS.md"  # instructions for coding assistants; a course can have its own file in docs/
GUIDES = {  # lines in the README about documents, each included if the course has the document
    "docs/students.md": "For more, including how to read a failure, see [docs/students.md](docs/students.md).",
    "docs/katas.md": "What each kata is about: [docs/katas.md](docs/katas.md).",
    "docs/lecture.md": "The lecture, item by item: [docs/lecture.md](docs/lecture.md).",
    "docs/zh/students.md": "中文：[docs/zh/students.md](docs/zh/students.md)。",
}
TORCH = " No GPU is needed; an installed GPU build of torch is kept."
PIP = """\
On Linux, pip downloads torch with several gigabytes of CUDA libraries; `uv sync` does not. Without an NVIDIA GPU, first
run `pip install torch --index-url https://download.pytorch.org/whl/cpu`, then `pip install -r requirements.txt`.

"""


def build_handout(katas: Sequence[Kata], language: str = "en") -> dict[str, bytes]:
    """Return the files of the handout, keyed by path. Docstrings of stubs are in this language if a translation exists.

    Raises GraderError if a file imports private files of the instructor or has an unsafe name.
    """
    version, wheel = build_wheel()
    name = handout.WHEEL.format(version=version)
    requirements = [f"./{name}", *sorted(course().dependencies)]
    texts = {
        "README.md": make_readme("README.md", katas),
        ".devcontainer/devcontainer.json": make_devcontainer(katas),
        handout.REQUIREMENTS: "".join(f"{line}\n" for line in requirements),
        "pyproject.toml": make_pyproject(katas, language, version),
    }
    return complete({name: wheel} | {path: text.encode() for path, text in texts.items()}, katas, language)


def build_self_study() -> dict[str, bytes]:
    """Return the files of the course for self-learners: a handout of all katas that uses the installed engine."""
    katas = list(course().katas.values())
    texts = {
        "README.md": make_readme("self_study/README.md", katas),
        "pyproject.toml": make_pyproject(katas, "en"),
    }
    return complete({path: text.encode() for path, text in texts.items()}, katas, "en")


def complete(base: dict[str, bytes], katas: Sequence[Kata], language: str) -> dict[str, bytes]:
    """Add the files of the course, the settings for editors and the list of all files to `base`, and return all files.

    Raises GraderError if a file is for instructors only or its name is not allowed in a handout.
    """
    root, names = course().root, [kata.name for kata in katas]
    files = {path.relative_to(root).as_posix(): path.read_bytes() for path in find_course_files(names)}
    for kata in katas:
        path, itself = f"assignment/{kata.name}.py", f"{kata.name}.py"
        tasks = {itself: find_text(kata.name, "title", language), **find_texts(kata.name, "stub", language)}
        files[path] = translate_docstrings(files[path].decode(), itself, tasks).encode()
    files |= base
    files |= {handout.stub_of(name): files[f"assignment/{name}.py"] for name in names}
    files |= {place: (FILES / name).read_bytes() for name, place in EDITOR.items()}
    own = root / "docs" / ASSISTANTS
    if instructions := (own if own.is_file() else FILES / ASSISTANTS).read_bytes().strip():
        files[ASSISTANTS] = instructions + b"\n"
    if (unsafe := handout.find_unsafe(files)) is not None:
        raise GraderError(f"{unsafe!r}: rename this file; not every system allows its name")
    files[handout.LIST] = handout.listing(files)
    return dict(sorted(files.items()))


def find_course_files(names: Sequence[str]) -> set[Path]:
    """Return the stubs, tests and public reference files of these katas, and all files that they import.

    Raises GraderError if one of the files is for instructors only.
    """
    root, reference = course().root, course().reference
    known = [path for name in names for path in files_of(course().folder(name)) if not course().is_private(path)]
    own = [root / f"{folder}{name}.py" for name in names for folder in ("assignment/", "tests/test_")]
    languages = [reference / f"{language}.po" for language in course().languages]
    shared = [*languages, *(root / name for name in SHARED), *root.glob(PICTURES)]
    timed = [name for name, workload in course().workloads.items() if {*names}.issuperset(workload.uses)]
    if timed:
        workloads = ["workloads.toml", *(f"{name}.py" for name in timed)]
        shared += [root / SPEED, *(reference / "workloads" / name for name in workloads)]
    tests = follow_imports([*known, *(path for path in own if "assignment" not in path.parts), *shared])
    for path in sorted(tests):
        if path.is_relative_to(reference) and course().is_private(path):
            raise GraderError(f"the handout would need {path.relative_to(root)}, which is for instructors only")
    engine = [ENGINE / package for package in PACKAGES]  # both can be inside the folder of the course
    files = (path for path in {*tests, *own} if path.is_relative_to(root))
    return {path for path in files if not any(path.is_relative_to(folder) for folder in engine)}


def make_pyproject(katas: Sequence[Kata], language: str, version: str = "") -> str:
    """Return the pyproject.toml of a handout with this version of the engine, or of the course for self-learners."""
    written = (FILES / "pyproject.toml").read_text("utf-8")
    written = written.replace("students = []", f"students = {json.dumps(sorted(course().dependencies))}")
    if version:
        path = handout.WHEEL.format(version=version)
        written += f"\n[tool.uv.sources.torchkata]\npath = {json.dumps(path)}\n"
    shared = ["pytest.toml", *(["uv.toml"] if needs_torch() else [])]
    written += "".join((FILES / name).read_text("utf-8") for name in shared)
    graders = course().grader_python or VERSION if version else ""  # nobody grades self-learners
    return written + make_settings(katas, language, graders)


def needs_torch() -> bool:
    """Return whether students install torch, which requires additional settings for builds without CUDA."""
    return any(Requirement(one).name == "torch" for one in course().dependencies)


def make_devcontainer(katas: Sequence[Kata]) -> str:
    """Return the configuration of a development container that opens the first kata."""
    written = (FILES / "devcontainer.json").read_text("utf-8")
    title = json.dumps(course().title, ensure_ascii=False)
    return written.replace('"TITLE"', title).replace("FIRST", f"assignment/{katas[0].name}.py")


def make_settings(katas: Sequence[Kata], language: str, python: str) -> str:
    """Return the settings of the course for the handout's pyproject.toml."""
    used = {kata.track for kata in katas}
    tracks = {name: track.title for name, track in course().tracks.items() if name in used}
    values = {
        "title": course().title,
        "languages": sorted(course().languages, key=lambda one: one != language),
        "preload": course().preload,
        "graded": [name for name in course().graded if name in used] or list(tracks),
        **({"grader_python": python} if python else {}),
    }
    names = {kata.name for kata in katas}
    whole = [name for name in tracks if names.issuperset(kata.name for kata in course().choose((), [name]))]
    endings = {name: course().tracks[name].ending for name in whole if course().tracks[name].ending}
    if course().ending and len(katas) == len(course().katas):
        endings[WHOLE] = course().ending
    ways = {title: way for title, way in course().ways.items() if names.issuperset(way)}
    lines = []
    tables: dict[str, dict[str, Any]] = {"": values, ".tracks": tracks, ".limits": vars(course().limits)}
    for name, entries in (tables | {".endings": endings, ".ways": ways}).items():
        if entries:
            lines += ["", f"[tool.torchkata{name}]"]
            lines += [f"{make_key(key)} = {json.dumps(value, ensure_ascii=False)}" for key, value in entries.items()]
    return "\n".join(lines) + "\n"


def make_key(name: str) -> str:
    """Return a key of TOML, quoted if necessary."""
    return name if re.fullmatch(r"[\w-]+", name, re.ASCII) else json.dumps(name, ensure_ascii=False)


def make_readme(template: str, katas: Sequence[Kata]) -> str:
    """Return the README of a handout."""
    written = (FILES / template).read_text("utf-8")
    guides = [text for document, text in GUIDES.items() if (course().root / document).is_file()]
    values = {
        "TITLE": course().title,
        "TORCH": TORCH if needs_torch() else "",
        "PIP": PIP if needs_torch() else "",
        "GUIDES\n\n": "".join(f"{' '.join(guides)}\n\n" for _ in guides[:1]),
        "KATAS\n": make_table(katas),
    }
    for place, text in values.items():
        written = written.replace(place, text)
    return written


def make_table(katas: Sequence[Kata]) -> str:
    """Return a Markdown table of the katas, by track."""
    lines = []
    for track in course().tracks.values():
        chosen = [kata for kata in katas if kata.track == track.name]
        if chosen:
            lines += [f"**{track.title}**", "", "| file | what you build |", "|---|---|"]
            lines += [f"| `assignment/{kata.name}.py` | {kata.title} |" for kata in chosen] + [""]
    return "\n".join(lines)

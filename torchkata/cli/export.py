"""`kata export`: the zip to hand in, and before that what the grader would miss or not read."""

import ast
import importlib.util
import os
import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from torchkata.course import course
from torchkata.course.submission import (
    IGNORED,
    MAX_BYTES,
    MAX_FILES,
    absolute_imports,
    is_module,
    parse,
    relative_imports,
    zip_files,
)
from torchkata.i18n import words
from torchkata.pytest_plugin.history import load, write_whole
from torchkata.result import LOOK_OF

from .secret import line_of_secret
from .terminal import CallError, say

FILE = "assignment.zip"
LEFT_BY_TOOLS = ("__pycache__", ".DS_Store", "__init__.py")  # nobody expects these to be handed in


@dataclass(frozen=True)
class Note:
    """What a student should know of a file before it is handed in."""

    file: str
    text: str
    is_grave: bool = False  # it is handed in, and some of its tests can't pass


def export(path: Path | None) -> int:
    """Write the zip and print what is wrong with it, the gravest last: 1 if tests fail for certain, else 0.

    Without a path it lies beside `assignment/`, wherever this was typed. Raises CallError where there is nothing to
    write, or no place.
    """
    path = path or Path(os.path.relpath(course().root / FILE))
    if path.suffix != ".zip":
        raise CallError(words("export.not_a_zip", path=path))
    files, notes = collected(course().assignment)
    katas = [kata for kata in course().katas if f"{kata}.py" in files]
    if not katas:
        raise CallError(words("export.nothing"))
    if len(files) > MAX_FILES:
        raise CallError(words("export.too_many", found=len(files), most=MAX_FILES))
    if path.exists() and not (path.is_file() and zipfile.is_zipfile(path)):
        raise CallError(words("export.other", path=path))
    notes += [note for name, source in files.items() for note in mistakes(name, source, files)]
    written = {f"{kata}.py" for kata in katas} - {note.file for note in notes}
    notes += failed([kata for kata in katas if f"{kata}.py" in written])
    try:
        write_whole(path, zip_files({f"assignment/{name}": source for name, source in files.items()}))
    except OSError as error:
        raise CallError(words("export.failed", path=path, error=error.strerror)) from None
    if notes:
        say("export.notes")
    for note in sorted(notes, key=lambda note: note.is_grave):
        say("export.note", name=note.file, text=note.text, width=max(len(note.file) for note in notes))
    say("export.written", path=path, files=len(files), written=len(written), all=len(course().katas))
    return int(any(note.is_grave for note in notes))


def collected(folder: Path) -> tuple[dict[str, bytes], list[Note]]:
    """The files that are handed in, by name, and what is to say of those that are not."""
    files: dict[str, bytes] = {}
    notes = []
    found = sorted(folder.iterdir()) if folder.is_dir() else []
    for path in found:
        reason = not_taken(path)
        if not reason:
            try:
                source = path.read_bytes()
                if line := line_of_secret(source):
                    reason = words("export.secret", line=line)
                else:
                    files[path.name] = source
            except OSError as error:
                reason = words("export.unreadable", error=error.strerror)
        if reason and path.name not in LEFT_BY_TOOLS:
            notes.append(Note(path.name, reason))
    for name in (f"{kata}.py" for kata in course().katas):
        if not any(path.name == name for path in found):
            other = next((path.name for path in found if path.name.lower() == name), None)
            notes.append(Note(name, words("export.misnamed", found=other) if other else words("export.missing")))
    return files, notes


def not_taken(path: Path) -> str:
    """Why the grader does not read this, "" if it does."""
    if path.is_symlink():
        return words("export.link")
    if path.is_dir():
        return words("export.folder")
    if not is_module(path.name):
        return words("export.never_run" if path.name in IGNORED else "export.no_module")
    return words("export.too_large", most=MAX_BYTES // 2**20) if path.stat().st_size > MAX_BYTES else ""


def mistakes(name: str, source: bytes, files: Mapping[str, bytes]) -> Iterator[Note]:
    """What costs points for certain: a syntax error, an import of a file that is not handed in, a stub."""
    try:
        tree = parse(source)
    except SyntaxError as error:
        yield Note(name, words("export.syntax", line=error.lineno or 1, error=error.msg), is_grave=True)
        return
    except (ValueError, RecursionError, MemoryError) as error:
        yield Note(name, words("export.syntax", line=1, error=error), is_grave=True)
        return
    modules = {other.removesuffix(".py") for other in files}
    for module in sorted(relative_imports(tree) - modules):
        yield Note(name, words("export.import", module=module), is_grave=True)
    for module in sorted(absolute_imports(tree) & modules):
        if not is_installed(module):
            yield Note(name, words("export.no_dot", module=module), is_grave=True)
    raised = [node for node in ast.walk(tree) if isinstance(node, ast.Raise) and node.exc]
    to_do = [node.lineno for node in raised if "NotImplementedError" in ast.dump(node)]
    if to_do and name.removesuffix(".py") in course().katas:
        yield Note(name, words("export.to_do", line=min(to_do)))


def is_installed(module: str) -> bool:
    """Whether another module than the one in `assignment/` has this name."""
    if module in sys.stdlib_module_names or module in sys.modules:
        return True
    found = importlib.util.find_spec(module)
    return found is not None and Path(found.origin or "").parent != course().assignment


def failed(katas: Sequence[str]) -> Iterator[Note]:
    """Those of these katas that failed when all their tests last ran."""
    state = load()
    for kata in katas:
        if LOOK_OF[state.status(kata)].colour == "red":
            counts = {"passed": state.runs[kata].passed, "all": len(course().katas[kata].points)}
            yield Note(f"{kata}.py", words("export.failed_tests", **counts), is_grave=True)

"""`kata export`: writes the zip file that students submit, and lists problems with it."""

import ast
import importlib.util
import os
import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from torchkata.course import course, predictions
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
from torchkata.i18n.notes import translate
from torchkata.inside.source.differences import find_differences, find_imports
from torchkata.inside.source.text import LFS_POINTER, PYTHON, find_fault
from torchkata.pytest_plugin.history import load_state, write_atomically
from torchkata.result import LOOK_OF

from .packages import is_available
from .secret import find_secret
from .terminal import CallError, say

FILE = "assignment.zip"
LEFT_BY_TOOLS = ("__pycache__", ".DS_Store", "__init__.py", predictions.FILE)  # names that are excluded without a note


@dataclass(frozen=True)
class Note:
    """A problem with a file in the submission."""

    file: str
    text: str
    is_serious: bool = False  # whether tests of this file are certain to fail


def export(path: Path | None) -> int:
    """Write the zip file and print its problems, with the most serious ones last.

    The default path is `assignment.zip` next to `assignment/`. Return the exit code, which is 1 if some tests are
    certain to fail. Raises CallError if there is nothing to hand in or the file can't be written.
    """
    path = path or Path(os.path.relpath(course().root / FILE))
    if path.suffix != ".zip":
        raise CallError(words("export.not_a_zip", path=path))
    files, notes = collect_files(course().assignment)
    katas = [kata for kata in course().katas if f"{kata}.py" in files]
    if not katas:
        raise CallError(words("export.nothing"))
    if len(files) > MAX_FILES:
        raise CallError(words("export.too_many", found=len(files), most=MAX_FILES))
    if path.exists() and not (path.is_file() and zipfile.is_zipfile(path)):
        raise CallError(words("export.other", path=path))
    notes += [note for name, source in files.items() for note in find_mistakes(name, source, files)]
    written = {f"{kata}.py" for kata in katas} - {note.file for note in notes}
    notes += find_failures([kata for kata in katas if f"{kata}.py" in written])
    try:
        write_atomically(path, zip_files({f"assignment/{name}": source for name, source in files.items()}))
    except OSError as error:
        raise CallError(words("export.failed", path=path, error=error.strerror)) from None
    print_notes(notes)
    say("export.written", path=path, files=len(files), written=len(written), all=len(course().katas))
    return int(any(note.is_serious for note in notes))


def print_notes(notes: Sequence[Note]) -> None:
    """Print notes, with the most serious ones last."""
    if notes:
        say("export.notes")
    for note in sorted(notes, key=lambda note: note.is_serious):
        say("export.note", name=note.file, text=note.text, width=max(len(note.file) for note in notes))


def check_files(katas: Sequence[str]) -> None:
    """Print the problems with the files of these katas, except missing and excluded files."""
    files, _ = collect_files(course().assignment)
    names = [f"{kata}.py" for kata in katas if f"{kata}.py" in files]
    print_notes([note for name in names for note in find_mistakes(name, files[name], files)])


def collect_files(folder: Path) -> tuple[dict[str, bytes], list[Note]]:
    """Return the files of the submission by name, and notes about files that are excluded or missing."""
    files: dict[str, bytes] = {}
    notes = []
    found = sorted(folder.iterdir()) if folder.is_dir() else []
    for path in found:
        reason = reason_to_skip(path)
        if not reason:
            try:
                source = path.read_bytes()
                if line := find_secret(source):
                    reason = words("export.secret", line=line)
                elif source.startswith(LFS_POINTER):
                    reason = words("export.pointer")
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


def reason_to_skip(path: Path) -> str:
    """Return the reason why a file is excluded, or "" if it is part of the submission."""
    if path.is_symlink():
        return words("export.link")
    if path.is_dir():
        return words("export.folder")
    if not is_module(path.name):
        return words("export.never_run" if path.name in IGNORED else "export.no_module")
    return words("export.too_large", most=MAX_BYTES // 2**20) if path.stat().st_size > MAX_BYTES else ""


def find_mistakes(name: str, source: bytes, files: Mapping[str, bytes]) -> Iterator[Note]:
    """Yield a note for each syntax error, each import that will fail, each difference, and each remaining stub."""
    if fault := find_fault(source):
        yield Note(name, words("export.syntax", line=fault[0] or 1, error=translate(fault[1])), is_serious=True)
        return
    try:
        tree = parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line, text = (error.lineno or 1, error.msg + PYTHON) if isinstance(error, SyntaxError) else (1, str(error))
        yield Note(name, words("export.syntax", line=line, error=text), is_serious=True)
        return
    modules = {other.removesuffix(".py") for other in files}
    for module in sorted(relative_imports(tree) - modules):
        yield Note(name, words("export.import", module=module), is_serious=True)
    for module in sorted(absolute_imports(tree) & modules):
        if not is_installed(module):
            yield Note(name, words("export.no_dot", module=module), is_serious=True)
    for module, line in find_imports(tree).items():
        if module not in (*modules, *course().katas) and not is_available(module):
            packages = ", ".join(course().packages)
            yield Note(name, words("export.package", line=line, module=module, packages=packages))
    for use in find_differences(tree):
        yield Note(name, words("export.differs", line=use.line, call=use.call, text=words(f"differs.{use.key}")))
    raised = [node for node in ast.walk(tree) if isinstance(node, ast.Raise) and node.exc]
    to_do = [node.lineno for node in raised if "NotImplementedError" in ast.dump(node)]
    if to_do and name.removesuffix(".py") in course().katas:
        yield Note(name, words("export.to_do", line=min(to_do)))


def is_installed(module: str) -> bool:
    """Return whether Python can find a module with this name outside of `assignment/`."""
    if module in sys.stdlib_module_names or module in sys.modules:
        return True
    found = importlib.util.find_spec(module)
    return found is not None and Path(found.origin or "").parent != course().assignment


def find_failures(katas: Sequence[str]) -> Iterator[Note]:
    """Yield a note for each kata that failed in its last complete run."""
    state = load_state()
    for kata in katas:
        if LOOK_OF[state.status(kata)].color == "red":
            counts = {"passed": state.runs[kata].passed, "all": len(course().katas[kata].points)}
            yield Note(f"{kata}.py", words("export.failed_tests", **counts), is_serious=True)

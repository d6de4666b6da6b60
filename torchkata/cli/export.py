"""`kata export`: writes the zip file that students submit, and lists problems with it."""

import ast
import importlib.util
import os
import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from torchkata.course import course, handout, predictions
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
from torchkata.files import write_atomically
from torchkata.i18n import _, translate
from torchkata.inside.source.differences import DIFFERENCES, find_differences, find_imports
from torchkata.inside.source.text import LFS_POINTER, PYTHON, find_fault
from torchkata.pytest_plugin.history import load_state
from torchkata.pytest_plugin.packages import OWN_MODULES, is_available
from torchkata.result import LOOK_OF

from .newer_python import describe_newer_python, find_newer
from .secret import find_secret
from .terminal import UsageError, print_wrapped, say

FILE = "assignment.zip"
LEFT_BY_TOOLS = ("__pycache__", ".DS_Store", "__init__.py", predictions.FILE)  # names that are excluded without a note


@dataclass(frozen=True)
class Problem:
    """A problem with a file in the submission."""

    file: str
    text: str
    is_serious: bool = False  # whether tests of this file are certain to fail


def export(path: Path | None) -> int:
    """Write the zip file and print its problems, with the most serious ones last.

    The default path is `assignment.zip` next to `assignment/`. Return the exit code, which is 1 if some tests are
    certain to fail. Raises UsageError if there is nothing to hand in or the file can't be written.
    """
    path = path or Path(os.path.relpath(course().root / FILE))
    if path.suffix != ".zip":
        raise UsageError(_("{path}: the name must end in .zip", path=path))
    files, notes = collect_files(course().assignment)
    katas = [kata for kata in course().katas if f"{kata}.py" in files]
    if not katas:
        raise UsageError(_("nothing to hand in: assignment/ contains no kata"))
    if len(files) > MAX_FILES:
        counts = {"found": len(files), "most": MAX_FILES}
        message = _(
            "assignment/ contains {found} modules, but the grader reads at most {most}: merge some of them", **counts
        )
        raise UsageError(message)
    if path.exists() and not (path.is_file() and zipfile.is_zipfile(path)):
        raise UsageError(_("{path}: already exists and is not a zip file", path=path))
    notes += [note for name, source in files.items() for note in find_mistakes(name, source, files)]
    written = {f"{kata}.py" for kata in katas} - {note.file for note in notes}
    notes += find_failures([kata for kata in katas if f"{kata}.py" in written])
    try:
        write_atomically(path, zip_files({f"assignment/{name}": source for name, source in files.items()}))
    except OSError as error:
        raise UsageError(_("{path}: can't write this file ({error})", path=path, error=error.strerror)) from None
    print_notes(notes)
    counts = {"files": len(files), "written": len(written), "all": len(course().katas)}
    say("{path}: {written} of {all} katas implemented; files: {files}", path=path, **counts)
    return int(any(note.is_serious for note in notes))


def print_notes(notes: Sequence[Problem]) -> None:
    """Print notes, with the most serious ones last, and whether the grader may have an older Python."""
    if newer := describe_newer_python():
        print_wrapped(newer)
    if notes:
        say("before you hand in, check:")
    for note in sorted(notes, key=lambda note: note.is_serious):
        print(f"  {note.file:<{max(len(note.file) for note in notes)}}  {note.text}", flush=True)


def check_files(katas: Sequence[str]) -> None:
    """Print the problems with the files of these katas, except missing and excluded files and untouched stubs."""
    files, _ = collect_files(course().assignment)
    stubs = {path.name: path.read_bytes() for path in (course().root / handout.STUBS).glob("*.py")}
    names = [name for name in (f"{kata}.py" for kata in katas) if name in files and files[name] != stubs.get(name)]
    print_notes([note for name in names for note in find_mistakes(name, files[name], files)])


def collect_files(folder: Path) -> tuple[dict[str, bytes], list[Problem]]:
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
                    reason = _("not included: line {line} contains a key or token; remove it", line=line)
                elif source.startswith(LFS_POINTER):
                    reason = _("not included: a Git LFS pointer, not the file itself; run `git lfs pull`")
                else:
                    files[path.name] = source
            except OSError as error:
                reason = _("not included: can't be read ({error})", error=error.strerror)
        if reason and path.name not in LEFT_BY_TOOLS:
            notes.append(Problem(path.name, reason))
    for name in (f"{kata}.py" for kata in course().katas):
        if not any(path.name == name for path in found):
            other = next((path.name for path in found if path.name.lower() == name), None)
            notes.append(
                Problem(name, _("missing: rename {found} to lower case", found=other) if other else _("missing"))
            )
    return files, notes


def reason_to_skip(path: Path) -> str:
    """Return the reason why a file is excluded, or "" if it is part of the submission."""
    if path.is_symlink():
        return _("not included: a symbolic link; replace it with the file")
    if path.is_dir():
        return _("not included: a folder; put its .py files next to the others")
    if not is_module(path.name):
        never_runs = path.name in IGNORED
        return _("not included: the grader never runs this file" if never_runs else "not included: not a Python module")
    return _("not included: larger than {most} MiB", most=MAX_BYTES // 2**20) if path.stat().st_size > MAX_BYTES else ""


def find_mistakes(name: str, source: bytes, files: Mapping[str, bytes]) -> Iterator[Problem]:
    """Yield a note for each syntax error, each import that will fail, each difference, and each remaining stub."""
    warn, fail = partial(Problem, name), partial(Problem, name, is_serious=True)
    line, error = find_syntax_error(source)
    if error:
        yield fail(_("line {line}: {error}; all tests of this file will fail", line=line or 1, error=error))
        return
    tree, modules = parse(source), {other.removesuffix(".py") for other in files}
    for module in sorted(relative_imports(tree) - modules):
        yield fail(_("imports .{module}, which is not in the zip file", module=module))
    for module in sorted(absolute_imports(tree) & modules):
        if not is_installed(module):
            yield fail(
                _(
                    "imports {module} without a dot, which fails in the grader; write: from .{module} import …",
                    module=module,
                )
            )
    for module, line in find_imports(tree).items():
        if module in OWN_MODULES:
            text = _(
                "line {line} imports {module}, which the grader does not have for your code", line=line, module=module
            )
            yield fail(text)
        elif module not in (*modules, *course().katas) and not is_available(module):
            names = {"module": module, "packages": ", ".join(course().packages)}
            text = _(
                "line {line} imports {module}, which is not a package of the course ({packages}), so the grader may "
                "lack it",
                line=line,
                **names,
            )
            yield warn(text)
    for newer in find_newer(source, tree):
        values = {
            "what": newer.name or _("this syntax"),
            "needed": f"3.{newer.minor}",
            "python": course().grader_python,
        }
        text = _(
            "line {line}: {what} needs Python {needed}, and the grader may have Python {python}",
            line=newer.line,
            **values,
        )
        yield warn(text)
    for use in find_differences(tree):
        why = translate(DIFFERENCES[use.key])
        yield warn(_("line {line}: {call}: {text}", line=use.line, call=use.call, text=why))
    raised = [node for node in ast.walk(tree) if isinstance(node, ast.Raise) and node.exc]
    to_do = [node.lineno for node in raised if "NotImplementedError" in ast.dump(node)]
    if to_do and name.removesuffix(".py") in course().katas:
        yield warn(_("line {line} still raises NotImplementedError", line=min(to_do)))


def find_syntax_error(source: bytes) -> tuple[int, str]:
    """Return the line and the reason why Python can't read a file, or (0, "")."""
    if fault := find_fault(source):
        return fault[0], translate(fault[1])
    try:
        parse(source)
    except SyntaxError as error:
        return error.lineno or 1, error.msg + PYTHON
    except (ValueError, RecursionError, MemoryError) as error:
        return 1, str(error)
    return 0, ""


def is_installed(module: str) -> bool:
    """Return whether Python can find a module with this name outside of `assignment/`."""
    if module in sys.stdlib_module_names or module in sys.modules:
        return True
    found = importlib.util.find_spec(module)
    return found is not None and Path(found.origin or "").parent != course().assignment


def find_failures(katas: Sequence[str]) -> Iterator[Problem]:
    """Yield a note for each kata that failed in its last complete run."""
    state = load_state()
    for kata in katas:
        if LOOK_OF[state.status(kata)].color == "red":
            counts = {"passed": state.runs[kata].passed, "all": len(course().katas[kata].points)}
            yield Problem(f"{kata}.py", _("{passed} of {all} tests passed in the last run", **counts), is_serious=True)

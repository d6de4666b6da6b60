"""`kata export`: writes the zip file that students submit, and lists problems with it."""

import ast
import os
import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.machinery import PathFinder
from pathlib import Path

from torchkata.course import course, handout, predictions
from torchkata.course.near_misses import list_near_misses
from torchkata.course.submission import (
    IGNORED,
    MAX_BYTES,
    MAX_FILES,
    is_module,
    parse,
    read_imports,
    zip_files,
)
from torchkata.files import write_atomically
from torchkata.i18n import _, translate
from torchkata.inside.source.differences import DIFFERENCES, PACKAGE, find_differences, find_imports
from torchkata.inside.source.names import Names, find_repeated
from torchkata.inside.source.stubs import find_line
from torchkata.inside.source.text import LFS_POINTER, PYTHON, find_fault, find_undecodable
from torchkata.pytest_plugin.history import load_state
from torchkata.pytest_plugin.opened_history import find_opened
from torchkata.pytest_plugin.packages import OWN_MODULES, find_hiding_files, is_available
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
    is_unfinished: bool = False  # whether a part of the kata is not written yet


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
    if path.exists() and os.access(path, os.R_OK) and not (path.is_file() and zipfile.is_zipfile(path)):
        raise UsageError(_("{path}: already exists and is not a zip file", path=path))
    untouched = {f"{kata}.py": kata for kata in katas if is_untouched(course().stub(kata))}
    optional = [name for name, kata in untouched.items() if course().katas[kata].track not in course().graded]
    notes += [note for name in files if name not in optional for note in find_mistakes(name, files[name], files)]
    notes += [note for kata in untouched.values() for note in find_near_misses(kata)]
    settled = {*untouched, *(note.file for note in notes if note.is_serious)}
    unwritten = {*settled, *(note.file for note in notes if note.is_unfinished)}
    tested, untested = split_by_age([kata for kata in katas if f"{kata}.py" not in settled])
    notes += [*find_failures(tested), *find_hiding()]
    try:
        write_atomically(path, zip_files({f"assignment/{name}": source for name, source in files.items()}))
    except OSError as error:
        raise UsageError(_("{path}: can't write this file ({error})", path=path, error=error.strerror)) from None
    if optional:
        print_wrapped(
            _("optional katas that are not started: {names}", names=", ".join(untouched[name] for name in optional)), 2
        )
    if untested:
        names = {"names": ", ".join(untested), "katas": " ".join(untested)}
        print_wrapped(_("not tested since their last change: {names}; run: kata check {katas}", **names), 2)
    print_notes(notes)
    written = sum(f"{kata}.py" not in unwritten for kata in katas)
    counts = {"files": len(files), "written": written, "all": len(course().katas)}
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
    files, notes = collect_files(course().assignment)
    links = [note for note in notes if (course().assignment / note.file).is_symlink()]
    written = [f"{kata}.py" for kata in katas if not is_untouched(course().stub(kata))]
    names = [name for name in written if name in files]
    print_notes([*links, *find_hiding(), *(note for name in names for note in find_mistakes(name, files[name], files))])


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
    for kata in course().katas:
        if not any(path.name == f"{kata}.py" for path in found):
            users = [name for name in files if kata in read_imports(folder / name) and not is_untouched(folder / name)]
            text = _("missing, but imported by {files}", files=", ".join(users)) if users else _("missing")
            notes += [*find_near_misses(kata)] or [Problem(f"{kata}.py", text)]
    return files, notes


def find_near_misses(kata: str) -> Iterator[Problem]:
    """Yield a note if files may be a kata, which is missing or not started, under another name."""
    if names := list_near_misses(kata):
        text = _("there is {names}: rename it if it is meant to be {file}", names=" or ".join(names), file=f"{kata}.py")
        yield Problem(f"{kata}.py", text, is_serious=True)


def find_hiding() -> Iterator[Problem]:
    """Yield a note for each file that Python would import instead of a library."""
    for file in [*find_hiding_files(course().root), *find_hiding_files(course().assignment)]:
        text = _("hides Python's module {module} from programs that start in its folder: rename it", module=file.stem)
        yield Problem(file.relative_to(course().root).as_posix(), text)


def is_untouched(path: Path) -> bool:
    """Return whether a file is an unchanged stub."""
    stub = handout.digest_of(course().root / handout.stub_of(path.stem))
    if handout.digest_of(path) == stub != "":
        return True
    try:
        return find_line(parse(path.read_bytes())) > 0
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return False


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
    if line := find_undecodable(source):
        yield warn(_("line {line} is not UTF-8 text: save the file as UTF-8", line=line))
    tree = parse(source)
    explain = partial(explain_import, files=files, extends_path=extends_path(tree))
    for module, line in find_imports(tree, lambda module: bool(explain(module, 0)[0])).items():
        text, is_serious = explain(module, line)
        if text:
            yield Problem(name, text, is_serious)
    for earlier, later in find_repeated(tree):
        lines = {"line": later.lineno, "name": later.name, "first": earlier.lineno}
        yield warn(_("line {line} defines {name} again and replaces that of line {first}", **lines))
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
    for path, line in find_opened(name, source).items():
        found = {"line": str(line), "file": path}
        if path.endswith(os.sep):
            yield warn(_("line {line} writes into {file}, which the grader lacks: let the code create it", **found))
        else:
            yield warn(
                _("line {line} reads {file}, which is not in the zip file; put its content into a .py file", **found)
            )
    for use in find_differences(tree):
        why = translate(DIFFERENCES[use.key])
        yield warn(_("line {line}: {call}: {text}", line=use.line, call=use.call, text=why))
    raised = [node for node in ast.walk(tree) if isinstance(node, ast.Raise) and node.exc]
    to_do = [node.lineno for node in raised if "NotImplementedError" in ast.dump(node)]
    if to_do and name.removesuffix(".py") in course().katas:
        text = _("line {line} still raises NotImplementedError", line=min(to_do))
        yield Problem(name, text, is_unfinished=True)


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


def explain_import(module: str, line: int, files: Mapping[str, bytes], *, extends_path: bool) -> tuple[str, bool]:
    """Return why the import of a module fails in the grader, or "", and whether this is certain.

    Args:
        module: The module, which begins with a dot if it is in the same folder.
        line: The line that imports it.
        files: The files of the submission.
        extends_path: Whether the folder of these files is in `sys.path`.
    """
    name = module.removeprefix(".")
    values = {"line": line, "module": name, "packages": ", ".join(course().packages)}
    other = next((file for file in files if file.casefold() == f"{name}.py".casefold()), "")
    is_own = other == f"{name}.py"
    if module.startswith("."):
        if is_own or name in course().katas:  # a missing kata has its own note
            return "", False
        if other:
            return _(
                "imports .{module}, but the file is {file}: upper and lower case differ", **values, file=other
            ), True
        if (course().assignment / "__init__.py").is_file():
            return _("imports .{module}, which is not in the zip file; __init__.py never runs", **values), True
        return _("imports .{module}, which is not in the zip file", **values), True
    if name in OWN_MODULES:
        return _("line {line} imports {module}, which the grader does not have for your code", **values), True
    path = find_module(name)
    if is_own and name not in sys.stdlib_module_names and not (path and is_package(path)):
        text = _("imports {module} without a dot, which fails in the grader; write: from .{module} import …", **values)
        return ("", False) if extends_path else (text, True)
    if is_own or is_available(name) or name in course().katas:
        return "", False
    if path and not is_package(path):
        text = _(
            "line {line} imports {module}, your own code outside assignment/: move it into assignment/ and write: from "
            ".{module} import …",
            **values,
        )
        return text, True
    text = _(
        "line {line} imports {module}, which is not a package of the course ({packages}), so the grader may lack it",
        **values,
    )
    return text, False


def find_module(name: str) -> Path | None:
    """Return the file or folder that Python imports under a name when the tests run, or None."""
    found = PathFinder.find_spec(name, [str(course().root), str(Path.cwd()), *sys.path])
    places = [found.origin, *(found.submodule_search_locations or ())] if found else []
    return next((path for path in map(Path, filter(None, places)) if path.is_absolute()), None)


def is_package(path: Path) -> bool:
    """Return whether a path belongs to an installed package."""
    return not {"site-packages", "dist-packages"}.isdisjoint(path.parts)


def extends_path(tree: ast.Module) -> bool:
    """Return whether a file adds its own folder to `sys.path`."""
    uses = {name for _, name in Names(tree).uses}
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    return ("__file__" in uses or PACKAGE in texts) and any(name.startswith("sys.path") for name in uses)


def split_by_age(katas: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the katas whose last run used the present files, and the other ones."""
    state = load_state()
    tested = [kata for kata in katas if kata in state.runs and not state.is_old(kata)]
    return tested, [kata for kata in katas if kata not in tested]


def find_failures(katas: Sequence[str]) -> Iterator[Problem]:
    """Yield a note for each kata that failed in its last complete run."""
    state = load_state()
    for kata in katas:
        if LOOK_OF[state.status(kata)].color == "red":
            counts = {"passed": state.runs[kata].passed, "all": len(course().katas[kata].points)}
            yield Problem(f"{kata}.py", _("{passed} of {all} tests passed in the last run", **counts), is_serious=True)

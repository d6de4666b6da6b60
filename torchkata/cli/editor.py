"""The student's editor, opened at the place of a failure."""

import ast
import os
import shlex
import shutil
import subprocess
from pathlib import Path

from ..course import course
from ..handin import parsed
from ..languages import words
from ..state import State
from .terminal import CallError

OF_VSCODE = ("code", "code-insiders", "codium", "cursor", "windsurf")  # they take -g FILE:LINE, and return at once
TAKE_A_LINE = ("vi", "vim", "nvim", "gvim", "nano", "emacs", "emacsclient", "micro", "joe", "kak")  # as +LINE


def edit(kata: str, state: State) -> None:
    """Open a kata where its first failure was told, else where its code begins. Raises CallError for no editor."""
    run = state.runs.get(kata)
    name, line = (run.file, run.line) if run and run.file and not state.is_old(kata) else (f"{kata}.py", 0)
    file = course().assignment / name
    command = called(editor(), file, line or first_line(file))
    try:
        done = subprocess.run(command)
    except OSError as error:
        raise CallError(words("edit.failed", command=command[0], error=error.strerror)) from None
    if done.returncode:
        raise CallError(words("edit.failed", command=command[0], error=done.returncode))


def editor() -> list[str]:
    """What the student has named, or VS Code within its own terminal. Raises CallError for none."""
    named = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not named and os.environ.get("TERM_PROGRAM") == "vscode" and shutil.which("code"):
        named = "code"
    if not named:
        raise CallError(words("edit.none"))
    return [named] if shutil.which(named) else shlex.split(named)


def called(editor: list[str], file: Path, line: int) -> list[str]:
    """The command that opens a file at a line; without the line where nobody knows how that editor takes one."""
    name = Path(editor[0]).stem
    if name in OF_VSCODE:
        return [*(part for part in editor if part not in ("-w", "--wait")), "-g", f"{file}:{line}"]
    return [*editor, *([f"+{line}"] if name in TAKE_A_LINE else []), str(file)]


def first_line(file: Path) -> int:
    """Where the first function or class begins; 1 in a file that can't be read."""
    try:
        body = parsed(file.read_bytes()).body
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return 1
    return next((node.lineno for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)), 1)

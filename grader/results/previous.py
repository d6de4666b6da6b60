"""Keeps the results that a regrade replaces in `DIR/.previous/<regrade>/<id>/result.json`, for `grader diff DIR`.

A regrade is identified by what judges its katas, so a run that was interrupted and continued is one regrade.
"""

import contextlib
import shutil
from collections.abc import Mapping
from pathlib import Path

from grader.base.errors import MachineError, convert_write_errors
from grader.base.files import write_whole
from grader.results.dependencies import digest
from grader.results.result import load

FOLDER = ".previous"
DIGITS = 16  # enough to tell the regrades of a class apart


def keep_previous(directory: Path, submission: str, judges: Mapping[str, str]) -> None:
    """Keep the stored result of a submission, if there is one. Raises MachineError if it can't be written.

    A second pass of the same regrade does not replace what the first pass has kept.
    """
    stored = directory / submission / "result.json"
    path = find_folder(directory, judges) / submission / "result.json"
    before = load(stored) if path.exists() else None
    if stored.exists() and not (before and {kata.kata: kata.digest for kata in before.katas} == judges):
        with convert_write_errors(path, MachineError):
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, stored.read_bytes())


def forget_older(directory: Path, judges: Mapping[str, str]) -> None:
    """Delete what earlier regrades replaced, if this one has replaced anything."""
    current = find_folder(directory, judges)
    for folder in list_regrades(directory) if current.exists() else ():
        if folder != current:
            shutil.rmtree(folder, ignore_errors=True)


def find_previous(directory: Path) -> Path | None:
    """Return the folder with the results that the latest regrade has replaced, or None if there is none."""
    return max(list_regrades(directory), key=lambda path: path.stat().st_mtime_ns, default=None)


def find_folder(directory: Path, judges: Mapping[str, str]) -> Path:
    """Return the folder of a regrade. `judges` are the digests of what judges each kata."""
    return directory / FOLDER / digest(judges)[:DIGITS]


def list_regrades(directory: Path) -> list[Path]:
    """Return the folders of all regrades that are kept."""
    with contextlib.suppress(OSError):
        return [path for path in (directory / FOLDER).iterdir() if path.is_dir()]
    return []

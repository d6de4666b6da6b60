"""Says what of a submission is not graded where its author misses it: a kata with another name, and failed imports."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from grader.pipeline.submission import NOT_REGULAR, Submission, show_names
from torchkata.i18n import format_label
from torchkata.i18n import translate_for_class as _
from torchkata.inside.source.text import WEB_PAGE
from torchkata.result import TestResult

NOT_FOUND = re.compile(r"(?:No module named '(?:assignment\.)?|cannot import name ')(\w+)'")


def group_by_module(names: Sequence[str], files: Mapping[str, bytes]) -> dict[str, str]:
    """Return the names that begin with a word in these files, keyed by this word, which may be a module."""
    words = {word.decode() for content in files.values() for word in re.findall(rb"\w+", content.lower())}
    found: dict[str, list[str]] = {}
    for name in names:
        word = re.split(r"\W", name, maxsplit=1)[0].lower()
        if word in words:
            found.setdefault(word, []).append(name)
    return {word: show_names(names) for word, names in found.items()}


def add_notes(submission: Submission, kata: str, result: TestResult) -> TestResult:
    """Return the result with the names of files that may be the kata, or what its code could not import."""
    notes = []
    if result.outcome == "not_started":
        if names := submission.near_misses.get(kata):
            notes.append(_("there is {names}: is it meant to be {file}?", file=f"{kata}.py", names=names))
        links = [PurePosixPath(one.path) for one in submission.aside if one.why == NOT_REGULAR]
        missing = [str(path) for path in links if path.name == f"{kata}.py"]
    else:
        words = dict.fromkeys(name.lower() for name in NOT_FOUND.findall(result.message))
        missing = [submission.beside[word] for word in words if word in submission.beside]
    if missing:
        text = _(
            "{names} was left aside: only regular .py files directly beside the katas are used, but no folders, links "
            "and other files",
            names=" or ".join(missing),
        )
        notes.append(text)
    lines = [result.message, *(format_label(_("note"), note) for note in notes)]
    return replace(result, message="\n".join(lines)) if notes else result


def describe_unreadable(content: bytes) -> str:
    """Return why the content of a file is not a readable archive."""
    if WEB_PAGE.search(content):
        return "a web page, not an archive; download it again, perhaps after logging in"
    if content.startswith(b"PK\3\4"):
        return "an incomplete .zip, whose end is missing; upload or download it again"
    return "not a readable archive (.zip, .tar, .tar.gz, .tar.xz or .tar.bz2)"

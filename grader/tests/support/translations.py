"""Finds translations in a catalogue that contradict the English text."""

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import polib

from grader.tests import ROOT

CHINESE = re.compile("[\u4e00-\u9fff]")
CODE = re.compile(r"`([^`\n]+)`")
PLACEHOLDER = re.compile(r"\{(\w*)[^{}]*\}")
HAS_VALUES = "python-brace-format"  # the flag with which gettext's tools compare {placeholders}


def find_catalogues() -> list[Path]:
    """Return the paths of all catalogues in this checkout."""
    return [path for folder in ("torchkata/i18n", "reference", "examples") for path in (ROOT / folder).rglob("*.po")]


def read_entries(path: Path) -> list[polib.POEntry]:
    """Return the entries of a catalogue."""
    return [entry for entry in polib.pofile(str(path), encoding="utf-8") if not entry.obsolete]


def find_fault(entry: polib.POEntry) -> str:
    """Return the problem with an entry of a catalogue in Chinese, or "" if there is none."""
    if not entry.translated():
        return ""
    if HAS_VALUES in entry.flags and list_placeholders(entry.msgid) != list_placeholders(entry.msgstr):
        return f"the {{placeholders}} of {entry.msgid!r} and its translation differ"
    if entry.msgctxt is None:
        return ""
    if not entry.msgctxt.endswith(".unit") and not CHINESE.search(entry.msgstr):
        return "contains no Chinese"
    if entry.msgctxt.startswith("stub."):
        return compare_tasks(entry.msgid, entry.msgstr)
    return compare_ideas(entry.msgid, entry.msgstr) if entry.msgctxt == "about" else ""


def compare_tasks(english: str, other: str) -> str:
    """Return how the code or numbers of a task differ from those of its translation, or "" if they are the same.

    A translation may leave out the examples: if it has no indented lines, nothing is compared.
    """
    if not code_of(other):
        return ""
    code = [code_of(text) for text in (english, other)]
    if len(code[0]) != len(code[1]) or any(a != b and b.isascii() for a, b in zip(*code, strict=True)):
        return "its indented lines differ from those of the stub"
    examples = ["\n".join(line for line in text.splitlines() if line[:4] == "    ") for text in (english, other)]
    if numbers_in(examples[0]) != numbers_in(examples[1]):
        return "the numbers in its examples differ from those of the stub"
    absent = {*CODE.findall(english)} - {*CODE.findall(other)}
    return f"`{min(absent)}` of the stub is missing" if absent else ""


def compare_ideas(english: str, other: str) -> str:
    """Return how numbers or code in a section of docs/katas.md differ from those in its translation, or ""."""
    checks: dict[str, Callable[[str], object]] = {
        "numbers": numbers_in,
        "pieces of code": lambda text: {*CODE.findall(text)},
        "needed katas": lambda text: CODE.findall(text.strip().splitlines()[-1]),
    }
    return next(
        (f"its {what} differ from those of docs/katas.md" for what, of in checks.items() if of(english) != of(other)),
        "",
    )


def code_of(text: str) -> list[str]:
    """Return the indented lines of a text, without comments."""
    return [line.partition(" # ")[0].rstrip() for line in text.splitlines() if line.startswith("    ")]


def numbers_in(text: str) -> Counter[str]:
    """Return the numbers in a text and how often each of them occurs."""
    return Counter(re.findall(r"\d(?:[\d.,]*\d)?", text))


def list_placeholders(text: str) -> set[str]:
    """Return the names in curly braces in a text."""
    return {*PLACEHOLDER.findall(text)}

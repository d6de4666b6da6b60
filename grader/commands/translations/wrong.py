"""Finds translations in a kata's catalogue that contradict the English text."""

import re
from collections import Counter
from collections.abc import Callable, Iterator

import polib

from grader.commands.translations.english import PLACEHOLDER, collect_katas
from grader.commands.translations.update import HAS_VALUES, read_entries
from torchkata.course import Kata, course
from torchkata.i18n.catalogues import NOTE
from torchkata.i18n.notes import split_literals

CHINESE = re.compile("[\u4e00-\u9fff]")
CODE = re.compile(r"`([^`\n]+)`")


def find_wrong_translations(kata: Kata) -> Iterator[str]:
    """Yield the translations in a kata's catalogue whose numbers, code or names differ from the English text."""
    for language in course().languages:
        path = course().folder(kata.name) / f"{language}.po"
        if entries := [entry for entry in read_entries(path) if not entry.obsolete]:
            english = {text.key: text.english for text in collect_katas()[0][kata.name]}
            faults = [(entry.msgctxt, find_fault(entry, language, english)) for entry in entries]
            yield from (f"reference/{kata.name}/{language}.po: {key}: {fault}" for key, fault in faults if fault)


def find_fault(entry: polib.POEntry, language: str, english: dict[str, str]) -> str:
    """Return the problem with an entry of a catalogue, or "" if there is none."""
    if entry.msgctxt != NOTE and entry.msgid != english.get(entry.msgctxt):
        return "the English text has changed: run `grader translations --update`"
    if entry.msgctxt == NOTE and not "".join(split_literals(entry.msgid)).strip():
        return f"{entry.msgid!r} has no words"
    if not entry.translated():
        return ""
    if HAS_VALUES in entry.flags and placeholders(entry.msgid) != placeholders(entry.msgstr):
        return f"the {{placeholders}} of {entry.msgid!r} and its translation differ"
    has_words = entry.msgctxt != NOTE and not entry.msgctxt.endswith(".unit")
    if language == "zh" and has_words and not CHINESE.search(entry.msgstr):
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


def placeholders(text: str) -> set[str]:
    """Return the names in curly braces in a text."""
    return {*PLACEHOLDER.findall(text)}

"""What students read in a language beside English: which texts nobody has translated yet, and which contradict it.

A translation is optional: a text without one is read in English. `grader untranslated` lists them.
"""

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from grader.commands.release.translated import documented
from torchkata.cli.about import find_section
from torchkata.course import Kata, course
from torchkata.diagnosis.mistakes import load_named_mistakes
from torchkata.i18n import look_up
from torchkata.i18n.notes import read_notes, split_literals

CHINESE = re.compile("[\u4e00-\u9fff]")
CODE = re.compile(r"`([^`\n]+)`")
IN_WORDS = re.compile(r"[a-z]{2,} [a-z]{2,}")  # two English words
KEYS = ("title", "about", "stub", "claims", "looks_like", "command")


def run_untranslated(katas: tuple[str, ...]) -> int:
    """Print what is not translated, a line each with its place; 0, since no translation is demanded."""
    others = [language for language in course().languages if language != "en"]
    if not others:
        print('the course is in English alone (languages in pyproject.toml, such as ["en", "zh"])')
        return 0
    lines = [line for language in others for line in untranslated(language, katas)]
    print("\n".join(lines or ["everything is translated"]))
    return 0


def untranslated(language: str, katas: tuple[str, ...]) -> Iterator[str]:
    """Yield a line for each text of these katas, and of their tracks and tests, that is not in a language."""
    shared, chosen = f"reference/{language}.toml", [course().katas[name] for name in katas]
    for track in dict.fromkeys(kata.track for kata in chosen):
        if not look_up(course().shared_texts.get(language), ("tracks", track)):
            yield f"{shared}: [tracks] {track}: {course().tracks[track].title}"
    for kata in chosen:
        place = f"reference/{kata.name}/{language}.toml:"
        told, together = kata.languages.get(language, {}), course().shared_texts.get(language, {})
        for (table, key), english in texts_of(kata).items():
            if not (look_up(told, (table, key)) if key else told.get(table)) and not look_up(together, (table, key)):
                yield f"{place} {f'[{table}] {key}' if key else table}: {first_line(english)}"
        if len(told.get("hints", ())) != len(kata.hints):
            yield f"{place} hints: {len(kata.hints)} in English, {len(told.get('hints', ()))} translated"
    known = [pattern for pattern, _ in read_notes(language, course().root)]
    for path, table in tests_of(language, katas).items():
        for text in dict.fromkeys(sentences(path)):
            if not any(pattern.fullmatch(text) for pattern in known):
                yield f"{table}: [notes] {first_line(text)}"


def tests_of(language: str, katas: tuple[str, ...]) -> dict[Path, str]:
    """Return the test files of these katas, and the shared ones if these are all; each with its translations."""
    found = dict.fromkeys(sorted(course().tests.rglob("*.py")), f"reference/{language}.toml")
    for name in course().katas:
        own = f"reference/{name}/{language}.toml"
        found |= {path: own for path in found if path.name in (f"test_{name}.py", f"{name}.py")}
    shared = {*katas} >= course().katas.keys()
    chosen = tuple(f"reference/{name}/" for name in katas)
    return {path: table for path, table in found.items() if table.startswith(chosen) or shared}


def texts_of(kata: Kata) -> dict[tuple[str, str], str]:
    """Return the English texts of a kata by table and key; a text that is no entry of a table has no key."""
    found = {("title", ""): kata.title}
    if text := find_section(kata):
        found["about", ""] = text
    found |= {("stub", name): text for name, text in tasks_of(kata).items()}
    found |= {("claims", test): test for test in kata.points}
    found |= {("looks_like", name): mistake.message for name, mistake in load_named_mistakes(kata.name).items()}
    return found | {("command", key): text for key, text in kata.command.items() if key != "name"}


def tasks_of(kata: Kata) -> dict[str, str]:
    """Return what a stub says of each of its names, and of itself where that is more than a line."""
    tree = ast.parse(course().stub(kata.name).read_text("utf-8"))
    itself = ast.get_docstring(tree) or ""
    named = {name: ast.get_docstring(node) for name, node in documented(tree, "")}
    return ({f"{kata.name}.py": itself} if "\n" in itself else {}) | {
        name: text for name, text in named.items() if text
    }


def sentences(path: Path) -> Iterator[str]:
    """Yield what a test says in words, with a 7 for each value; of a probe, what it raises."""
    tree = ast.parse(path.read_text("utf-8"))
    nodes = [*ast.walk(tree)]
    if path.parent.name == "probes":
        nodes = [node for one in nodes if isinstance(one, ast.Raise) for node in ast.walk(one)]
    no_words = {one for node in nodes if isinstance(node, ast.Subscript) for one in ast.walk(node.slice)}
    no_words |= {node.value for node in nodes if isinstance(node, ast.Expr)}  # docstrings
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            no_words |= {*node.values}
    for node in nodes:
        if isinstance(node, (ast.Constant, ast.JoinedStr)) and node not in no_words:
            values = node.values if isinstance(node, ast.JoinedStr) else [node]
            text = "".join(str(one.value) if isinstance(one, ast.Constant) else "7" for one in values)
            if IN_WORDS.search(text):
                yield text


def wrong_translations(kata: Kata) -> Iterator[str]:
    """Yield the translations of a kata that contradict the English text: other numbers, other code, other names."""
    for language, told in kata.languages.items():
        place, english = f"reference/{kata.name}/{language}.toml:", texts_of(kata)
        for table in ("stub", "claims", "looks_like", "command"):
            for key in told.get(table, {}):
                if (table, key) not in english and key != f"{kata.name}.py":
                    yield f"{place} {table}.{key}: there is no such text in English"
        for name, task in told.get("stub", {}).items():
            if (text := english.get(("stub", name))) and (fault := compare_tasks(text, task)):
                yield f"{place} stub.{name}: {fault}"
        if (text := english.get(("about", ""))) and "about" in told and (fault := compare_ideas(text, told["about"])):
            yield f"{place} about: {fault}"
        for key, text in [*told.get("command", {}).items()]:
            if placeholders(text) != placeholders(kata.command.get(key, "")):
                yield f"{place} command.{key}: its {{placeholders}} are not those of the English text"
        for text, translation in told.get("notes", {}).items():
            if placeholders(text) != placeholders(translation) or not "".join(split_literals(text)).strip():
                yield f"{place} notes: {text!r} and its translation have other {{placeholders}}"
        if language == "zh":
            for name, text in leaves({key: told[key] for key in KEYS if key in told}):
                if not CHINESE.search(text):
                    yield f"{place} {name}: there is nothing Chinese in it"


def compare_tasks(english: str, other: str) -> str:
    """Return in what a task and its translation differ besides words, "" if in nothing.

    A translation may be shorter; one without indented lines has nothing to compare.
    """
    if not code_of(other):
        return ""
    code = [code_of(text) for text in (english, other)]
    if len(code[0]) != len(code[1]) or any(a != b and b.isascii() for a, b in zip(*code, strict=True)):
        return "its indented lines are not those of the stub"
    examples = ["\n".join(line for line in text.splitlines() if line[:4] == "    ") for text in (english, other)]
    if numbers_in(examples[0]) != numbers_in(examples[1]):
        return "the numbers in its examples are not those of the stub"
    absent = {*CODE.findall(english)} - {*CODE.findall(other)}
    return f"`{min(absent)}` of the stub is not in it" if absent else ""


def compare_ideas(english: str, other: str) -> str:
    """Return in what a section of the page of katas and its translation differ besides words, "" if in nothing."""
    checks: dict[str, Callable[[str], object]] = {
        "numbers": numbers_in,
        "pieces of code": lambda text: {*CODE.findall(text)},
        "needed katas": lambda text: CODE.findall(text.strip().splitlines()[-1]),
    }
    return next(
        (f"its {what} are not those of docs/katas.md" for what, of in checks.items() if of(english) != of(other)), ""
    )


def code_of(text: str) -> list[str]:
    """Return the indented lines, without what a comment says."""
    return [line.partition(" # ")[0].rstrip() for line in text.splitlines() if line.startswith("    ")]


def numbers_in(text: str) -> Counter[str]:
    """Return how often each number stands in a text."""
    return Counter(re.findall(r"\d(?:[\d.,]*\d)?", text))


def placeholders(text: str) -> set[str]:
    """Return the names in braces that are filled in."""
    return {*re.findall(r"\{(\w*)[^{}]*\}", text)}


def leaves(entry: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield all texts, with their keys."""
    if isinstance(entry, str):
        yield path.removeprefix("."), entry
    for key, inner in entry.items() if isinstance(entry, dict) else enumerate(entry) if isinstance(entry, list) else []:
        yield from leaves(inner, f"{path}.{key}")


def first_line(text: str) -> str:
    """Return the first line of a text."""
    return text.strip().partition("\n")[0]

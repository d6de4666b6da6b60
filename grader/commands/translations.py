"""Finds kata texts whose translations are missing or contradict the English text.

Translations are optional: if there is none, the English text is shown. `grader untranslated` lists missing
translations.
"""

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from grader.commands.release.contract import documented
from torchkata.cli.about import find_section
from torchkata.course import Kata, course
from torchkata.course.predictions import load_questions
from torchkata.diagnosis.mistakes import load_named_mistakes
from torchkata.i18n import look_up
from torchkata.i18n.notes import read_notes, split_literals

CHINESE = re.compile("[\u4e00-\u9fff]")
CODE = re.compile(r"`([^`\n]+)`")
IN_WORDS = re.compile(r"[a-z]{2,} [a-z]{2,}")  # two consecutive English words
KEYS = ("title", "after", "about", "stub", "claims", "looks_like", "command")


def run_untranslated(katas: tuple[str, ...]) -> int:
    """Print a line for each missing translation. Return 0, because translations are optional."""
    others = [language for language in course().languages if language != "en"]
    if not others:
        print('the course has no language other than English (add languages = ["en", "zh"] to pyproject.toml)')
        return 0
    lines = [line for language in others for line in find_untranslated(language, katas)]
    print("\n".join(lines or ["everything is translated"]))
    return 0


def find_untranslated(language: str, katas: tuple[str, ...]) -> Iterator[str]:
    """Yield a line for each text of these katas, their tracks and their tests that has no translation in a language."""
    shared, chosen = f"reference/{language}.toml", [course().katas[name] for name in katas]
    for track in dict.fromkeys(kata.track for kata in chosen):
        if not look_up(course().shared_texts.get(language), ("tracks", track)):
            yield f"{shared}: [tracks] {track}: {course().tracks[track].title}"
    for kata in chosen:
        place = f"reference/{kata.name}/{language}.toml:"
        own, shared_texts = kata.languages.get(language, {}), course().shared_texts.get(language, {})
        for (table, key), english in collect_texts(kata).items():
            if not (look_up(own, (table, key)) if key else own.get(table)) and not look_up(shared_texts, (table, key)):
                yield f"{place} {f'[{table}] {key}' if key else table}: {first_line(english)}"
        if len(own.get("hints", ())) != len(kata.hints):
            yield f"{place} hints: {len(kata.hints)} in English, {len(own.get('hints', ()))} translated"
        for name in load_questions(kata.name):
            if not look_up(own, ("questions", name)):
                yield f"{place} [questions] {name}"
    known = [pattern for pattern, _ in read_notes(language, course().root)]
    for path, table in find_test_files(language, katas).items():
        for text in dict.fromkeys(collect_sentences(path)):
            if not any(pattern.fullmatch(text) for pattern in known):
                yield f"{table}: [notes] {first_line(text)}"


def find_test_files(language: str, katas: tuple[str, ...]) -> dict[Path, str]:
    """Return the test files of these katas, and shared ones if all katas are given, with their translation files."""
    found = dict.fromkeys(sorted(course().tests.rglob("*.py")), f"reference/{language}.toml")
    for name in course().katas:
        own = f"reference/{name}/{language}.toml"
        found |= {path: own for path in found if path.name in (f"test_{name}.py", f"{name}.py")}
    shared = {*katas} >= course().katas.keys()
    chosen = tuple(f"reference/{name}/" for name in katas)
    return {path: table for path, table in found.items() if table.startswith(chosen) or shared}


def collect_texts(kata: Kata) -> dict[tuple[str, str], str]:
    """Return the English texts of a kata, keyed by table and key. For a text outside of tables, the key is ""."""
    found = {("title", ""): kata.title}
    if kata.after:
        found["after", ""] = kata.after
    if text := find_section(kata):
        found["about", ""] = text
    found |= {("stub", name): text for name, text in collect_docstrings(kata).items()}
    found |= {("claims", test): test for test in kata.points}
    found |= {("looks_like", name): mistake.message for name, mistake in load_named_mistakes(kata.name).items()}
    return found | {("command", key): text for key, text in kata.command.items() if key != "name"}


def collect_docstrings(kata: Kata) -> dict[str, str]:
    """Return the docstrings of a stub by name. The docstring of the module is excluded if it has only one line."""
    tree = ast.parse(course().stub(kata.name).read_text("utf-8"))
    itself = ast.get_docstring(tree) or ""
    named = {name: ast.get_docstring(node) for name, node in documented(tree, "")}
    return ({f"{kata.name}.py": itself} if "\n" in itself else {}) | {
        name: text for name, text in named.items() if text
    }


def collect_sentences(path: Path) -> Iterator[str]:
    """Yield the sentences in the messages of a test, with 7 in place of values. For probes, only use exceptions."""
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


def find_wrong_translations(kata: Kata) -> Iterator[str]:
    """Yield the translations of a kata whose numbers, code or names do not match the English text."""
    for language, own in kata.languages.items():
        place, english = f"reference/{kata.name}/{language}.toml:", collect_texts(kata)
        for table in ("stub", "claims", "looks_like", "command"):
            for key in own.get(table, {}):
                if (table, key) not in english and key != f"{kata.name}.py":
                    yield f"{place} {table}.{key}: there is no such text in English"
        for name, task in own.get("stub", {}).items():
            if (text := english.get(("stub", name))) and (fault := compare_tasks(text, task)):
                yield f"{place} stub.{name}: {fault}"
        if (text := english.get(("about", ""))) and "about" in own and (fault := compare_ideas(text, own["about"])):
            yield f"{place} about: {fault}"
        for key, text in [*own.get("command", {}).items()]:
            if placeholders(text) != placeholders(kata.command.get(key, "")):
                yield f"{place} command.{key}: its {{placeholders}} differ from those of the English text"
        asked = load_questions(kata.name)
        for name, texts in own.get("questions", {}).items():
            for key, text in texts.items():
                if placeholders(text) != placeholders(getattr(asked.get(name), key, "")):
                    yield f"{place} questions.{name}.{key}: its {{placeholders}} differ from those of the English text"
        for text, translation in own.get("notes", {}).items():
            if placeholders(text) != placeholders(translation) or not "".join(split_literals(text)).strip():
                yield f"{place} notes: {text!r} and its translation have different {{placeholders}}"
        if language == "zh":
            for name, text in leaves({key: own[key] for key in KEYS if key in own}):
                if not CHINESE.search(text):
                    yield f"{place} {name}: contains no Chinese"


def compare_tasks(english: str, other: str) -> str:
    """Return how the code or numbers of a task differ from those of its translation, or "" if they are the same.

    A translation may be shorter. If it has no indented lines, nothing is compared.
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
    """Return how numbers or code in a section of the kata page differ from those of its translation, or ""."""
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
    """Return the indented lines, without comments."""
    return [line.partition(" # ")[0].rstrip() for line in text.splitlines() if line.startswith("    ")]


def numbers_in(text: str) -> Counter[str]:
    """Return the numbers in a text and how often they occur."""
    return Counter(re.findall(r"\d(?:[\d.,]*\d)?", text))


def placeholders(text: str) -> set[str]:
    """Return the names in curly braces."""
    return {*re.findall(r"\{(\w*)[^{}]*\}", text)}


def leaves(entry: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield all texts in nested tables, with their keys."""
    if isinstance(entry, str):
        yield path.removeprefix("."), entry
    for key, inner in entry.items() if isinstance(entry, dict) else enumerate(entry) if isinstance(entry, list) else []:
        yield from leaves(inner, f"{path}.{key}")


def first_line(text: str) -> str:
    """Return the first line of a text."""
    return text.strip().partition("\n")[0]

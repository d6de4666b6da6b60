"""Collects the English texts of the course and of the engine from their sources, by catalogue."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

from grader.base.imports import follow_imports
from grader.commands.release.contract import documented
from torchkata import i18n
from torchkata.cli.about import find_section
from torchkata.course import ENGINE, Kata, cached_by_course, course
from torchkata.course.load import read_toml
from torchkata.course.predictions import load_questions
from torchkata.diagnosis.mistakes import load_named_mistakes

PLACEHOLDER = re.compile(r"\{(\w*)[^{}]*\}")
BETWEEN_CLAUSES = re.compile(r"[;:,.()\n]")
IN_WORDS = re.compile(r"[a-z]{2,} [a-z]{2,}")  # two consecutive English words


@dataclass(frozen=True)
class Text:
    """An English text."""

    key: str
    english: str
    has_values: bool = False  # whether it contains placeholders for values


def collect_english(katas: Sequence[str]) -> dict[Path, list[Text]]:
    """Return the English texts of these katas, except notes, keyed by the folder of their catalogues.

    If all katas are given, include the texts that are defined outside the folders of katas. Then also include the texts
    of the engine if it is in the folder of the course.
    """
    own, shared = collect_katas()
    found = {course().folder(name): own[name] for name in katas}
    if {*katas} >= course().katas.keys():
        found[course().reference] = shared
        if course().root == ENGINE:
            found[Path(i18n.__file__).parent] = [make_text(*item) for item in i18n.texts("en").items() if item[1]]
    return found


@cached_by_course
def collect_katas() -> tuple[dict[str, list[Text]], list[Text]]:
    """Return the texts of each kata, and the shared texts, which are defined elsewhere: tracks, contracts, mistakes.

    If texts that are defined elsewhere have the same key but are different, only the first one is shared.
    """
    shared = {f"tracks.{name}": Text(f"tracks.{name}", track.title) for name, track in course().tracks.items()}
    own: dict[str, list[Text]] = {}
    for name, kata in course().katas.items():
        own[name] = []
        for text, is_own in collect_texts(kata):
            if is_own or shared.setdefault(text.key, text) != text:
                own[name].append(text)
    return own, list(shared.values())


def collect_texts(kata: Kata) -> Iterator[tuple[Text, bool]]:
    """Yield each text of a kata, together with whether the kata's own files define the text."""
    single = {"title": kata.title, "after": kata.after}
    single |= {f"hints.{number}": hint for number, hint in enumerate(kata.hints, start=1)}
    single |= {"about": find_section(kata)}
    single |= {f"stub.{name}": text for name, text in collect_docstrings(kata).items()}
    yield from ((Text(key, text), True) for key, text in single.items() if text)
    tests = [path for path in follow_imports([course().test_file(kata.name)]) if path.is_relative_to(course().tests)]
    claims = {path: read_claims(path) for path in sorted(tests, key=lambda path: path != course().test_file(kata.name))}
    for test in dict.fromkeys(name.partition("[")[0] for name in kata.points):
        path = next((path for path in claims if test in claims[path]), None)
        if path is not None and claims[path][test]:
            yield Text(f"claims.{test}", claims[path][test]), path == course().test_file(kata.name)
    for name, mistake in load_named_mistakes(kata.name).items():
        is_own = mistake.mistaken.__module__ == f"reference.{kata.name}.mistakes"
        yield Text(f"looks_like.{name}", mistake.message, bool(mistake.constants)), is_own
    for name, question in load_questions(kata.name).items():
        for field in ("text", "unit", "formula"):
            if text := getattr(question, field):
                yield make_text(f"questions.{name}.{field}", text), True
    for key, text in kata.command.items():
        if key != "name":
            yield make_text(f"command.{key}", text), True


def make_text(key: str, english: str) -> Text:
    """Return a text, marked as containing values if it has placeholders."""
    return Text(key, english, PLACEHOLDER.search(english) is not None)


def collect_docstrings(kata: Kata) -> dict[str, str]:
    """Return the docstrings of a stub, keyed by name. The module's docstring is excluded if it has only one line."""
    tree = ast.parse(course().stub(kata.name).read_text("utf-8"))
    itself = ast.get_docstring(tree) or ""
    named = {name: ast.get_docstring(node) for name, node in documented(tree, "")}
    return ({f"{kata.name}.py": itself} if "\n" in itself else {}) | {
        name: text for name, text in named.items() if text
    }


@cache
def read_claims(path: Path) -> dict[str, str]:
    """Return the first lines of the docstrings of all tests in a module, including those inside functions."""
    nodes = [node for node in ast.walk(ast.parse(path.read_bytes())) if isinstance(node, ast.FunctionDef)]
    tests = [node for node in nodes if node.name.startswith("test_")]
    return {node.name: (ast.get_docstring(node) or "").partition("\n")[0] for node in tests}


def collect_notes(katas: Sequence[str]) -> dict[Path, list[str]]:
    """Return the sentences in tests' messages, with {names} in place of values, keyed by the folder of the catalogue.

    If all katas are given, sentences in modules that do not belong to a kata are included.
    """
    found: dict[Path, list[str]] = {}
    for path in sorted(course().tests.rglob("*.py")):
        kata = path.stem.removeprefix("test_") if path.parent == course().tests else path.stem
        folder = course().folder(kata) if kata in course().katas else course().reference
        if kata in katas or (folder == course().reference and {*katas} >= course().katas.keys()):
            found.setdefault(folder, []).extend(collect_sentences(path))
    return found


def collect_sentences(path: Path) -> Iterator[str]:
    """Yield the sentences in the messages of a test module. In a probe, only exceptions contain messages."""
    tree = ast.parse(path.read_text("utf-8"))
    nodes = [*ast.walk(tree)]
    if path.parent.name == "probes":
        nodes = [node for one in nodes if isinstance(one, ast.Raise) for node in ast.walk(one)]
    no_words = {one for node in nodes if isinstance(node, ast.Subscript) for one in ast.walk(node.slice)}
    no_words |= {node.value for node in nodes if isinstance(node, ast.Expr)}  # docstrings
    for node, sentence in read_strings(nodes):
        if node not in no_words and IN_WORDS.search(fill_in(sentence)):
            yield sentence


def fill_in(sentence: str) -> str:
    """Return a sentence with 7 in place of each value."""
    return sentence.format_map(defaultdict(lambda: 7))


def read_strings(nodes: Sequence[ast.AST]) -> Iterator[tuple[ast.AST, str]]:
    """Yield each string, and each f-string as a whole, with {names} in place of values."""
    parts = {part for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in nodes:
        if isinstance(node, (ast.Constant, ast.JoinedStr)) and node not in parts:
            values = node.values if isinstance(node, ast.JoinedStr) else [node]
            pattern, names = "", set[str]()
            for value in values:
                if isinstance(value, ast.Constant):
                    pattern += str(value.value).replace("{", "{{").replace("}", "}}")
                else:
                    name = next(name for name in list_names(value) if name not in names)
                    names.add(name)
                    pattern += f"{{{name}}}"
            yield node, pattern


def list_names(value: ast.AST) -> Iterator[str]:
    """Yield possible names for a value in an f-string: first the variables in it, then numbered names."""
    called = {node.func for node in ast.walk(value) if isinstance(node, ast.Call)}
    yield from (node.id for node in ast.walk(value) if isinstance(node, ast.Name) and node not in called)
    yield from (f"value{number}" for number in count(1))


@cached_by_course
def collect_strings() -> tuple[set[str], set[str]]:
    """Return all strings in the sources of messages, with 7 in place of each value, and the clauses in the strings."""
    folders = {course().tests, course().reference, ENGINE / "torchkata", ENGINE / "grader"}
    paths = [path for folder in sorted(folders) for path in folder.rglob("*.py")]
    paths = [path for path in paths if not path.is_relative_to(ENGINE / "grader/tests")]  # no messages
    nodes = [node for path in paths for node in ast.walk(ast.parse(path.read_bytes()))]
    tables = {value for path in course().reference.rglob("*.toml") for value in list_values(read_toml(path))}
    samples = tables | {fill_in(sentence) for _, sentence in read_strings(nodes)}
    parts = tables | {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return samples, {clause for part in parts for clause in split_clauses(part)}


def list_values(table: dict[str, Any]) -> Iterator[str]:
    """Yield all strings in a table and its subtables."""
    for value in table.values():
        if isinstance(value, dict):
            yield from list_values(value)
        elif isinstance(value, str):
            yield value


def split_clauses(text: str) -> list[str]:
    """Return the parts of a text between punctuation marks."""
    return [clause.strip() for clause in BETWEEN_CLAUSES.split(text)]

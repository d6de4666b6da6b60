"""Update the catalogues of translations with Babel, and list what is missing or fuzzy: `make translations`.

    python -m scripts.translations [COURSE]

The English texts are extracted from their sources: `kata.toml`, stubs, tests, mistakes, questions, `docs/katas.md` and
`en.toml`. A translation whose English text has changed becomes fuzzy: it is not used until it is corrected and the mark
is removed. Catalogues are not wrapped, so that a text is one line and a changed word is a small difference.
"""

import argparse
import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from io import BytesIO, StringIO
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias

from babel.messages.catalog import Catalog
from babel.messages.pofile import PoFileError, escape, read_po, write_po

from grader.base.imports import follow_imports
from grader.commands.release.contract import documented
from torchkata import i18n
from torchkata.cli.about import find_section
from torchkata.course import ENGINE, CourseError, Kata, cached_by_course, course, use
from torchkata.course.load import WHOLE, read_toml
from torchkata.course.predictions import load_questions
from torchkata.diagnosis.mistakes import load_named_mistakes
from torchkata.i18n.catalogues import NOTE
from torchkata.i18n.notes import compile_pattern, split_literals

Texts: TypeAlias = dict[str, str]  # English texts by key

BETWEEN_CLAUSES = re.compile(r"[;:,.()\n]")
IN_WORDS = re.compile(r"[a-z]{2,} [a-z]{2,}")  # two consecutive English words
HEADER = """#
msgid ""
msgstr ""
"Project-Id-Version: {title}\\n"
"Language: {language}\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=UTF-8\\n"
"Content-Transfer-Encoding: 8bit\\n"
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Update all catalogues, and print the files that have changed and the translations that need work."""
    parser = argparse.ArgumentParser(prog="python -m scripts.translations", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("course", nargs="?", type=Path, default=ENGINE, metavar="COURSE", help="folder of a course")
    try:
        use(parser.parse_args(argv).course)
        others = [language for language in course().languages if language != "en"]
        if not others:
            print('the course has only English (add languages = ["en", "zh"] to its pyproject.toml)')
        for path, (content, problems) in update_catalogues(others).items():
            if read_text(path) != content:
                path.write_text(content, "utf-8")
                print(f"{shorten(path)}: updated")
            for problem in problems:
                print(f"{shorten(path)}: {problem}")
    except CourseError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def read_text(path: Path) -> str:
    """Return the content of a catalogue, or "" if there is none."""
    return path.read_text("utf-8") if path.is_file() else ""


def shorten(path: Path) -> str:
    """Return a path relative to the folder of the course, if it is inside."""
    return path.relative_to(course().root if path.is_relative_to(course().root) else ENGINE).as_posix()


def update_catalogues(languages: Iterable[str]) -> dict[Path, tuple[str, list[str]]]:
    """Return the new content of each catalogue, and a line for each missing or fuzzy translation in it."""
    texts, sentences = collect_texts(), collect_sentences()
    found: dict[Path, tuple[str, list[str]]] = {}
    for language in languages:
        catalogues = {folder: read_catalogue(folder / f"{language}.po") for folder in texts}
        notes = {folder: list_notes(catalogue) for folder, catalogue in catalogues.items()}
        known = [compile_pattern(note) for folder in notes for note in notes[folder]]
        for folder, catalogue in catalogues.items():
            new = [one for one in sentences[folder] if not any(note.fullmatch(fill_in(one)) for note in known)]
            template = make_template(texts[folder], [*filter(is_in_sources, notes[folder]), *new])
            update(catalogue, template)
            path = folder / f"{language}.po"
            header = read_text(path).partition("\n\n")[0] or make_header(language)
            found[path] = (f"{header.strip()}\n\n{format_entries(catalogue)}", [*list_problems(catalogue)])
    return found


def read_catalogue(path: Path) -> Catalog:
    """Return the catalogue in a file, or an empty one if there is no file. Raises CourseError if it can't be read."""
    try:
        return read_po(StringIO(read_text(path)), abort_invalid=True)
    except PoFileError as error:
        raise CourseError(f"{path}: can't be read (syntax error in line {error.lineno + 1})") from None
    except (OSError, ValueError) as error:
        raise CourseError(f"{path}: can't be read ({error})") from None


def list_notes(catalogue: Catalog) -> list[str]:
    """Return the English texts of the notes in a catalogue."""
    return [str(message.id) for message in catalogue if message.context == NOTE]


def make_template(texts: Texts, notes: Iterable[str]) -> Catalog:
    """Return a catalogue of English texts, in this order."""
    template = Catalog()
    for key, english in [*texts.items(), *((NOTE, note) for note in notes)]:
        template.add(english, context=key)
    return template


def update(catalogue: Catalog, template: Catalog) -> None:
    """Give a catalogue the texts of a template, like `pybabel update`, and keep translations as far as possible.

    Babel finds an entry by its key and its English text, or a similar entry, which becomes fuzzy. Before that, a text
    whose key has changed gets its old translation, and one whose English text has changed gets it as a fuzzy one,
    however different the new text is.
    """
    old = [message for message in catalogue if message.id and message.string and message.context != NOTE]
    by_english, by_key = {message.id: message for message in old}, {message.context: message for message in old}
    present = {message.id for message in template}
    for text in template:
        if text.id and text.context != NOTE and catalogue.get(text.id, text.context) is None:
            moved, changed = by_english.get(text.id), by_key.get(text.context)
            if moved:
                catalogue.add(text.id, moved.string, flags=moved.flags, context=text.context)
            elif changed and changed.id not in present:
                catalogue.add(text.id, changed.string, flags={"fuzzy"}, context=text.context)
    catalogue.update(template)
    for message in catalogue:
        message.flags.discard("python-format")  # Babel takes a percent sign for a placeholder


def make_header(language: str) -> str:
    """Return the header of a new catalogue."""
    return HEADER.format(title=escape(course().title)[1:-1], language=language)


def format_entries(catalogue: Catalog) -> str:
    """Return the entries of a catalogue as they are written to a file. Texts that no longer exist are left out."""
    written = BytesIO()
    write_po(written, catalogue, width=0, omit_header=True, ignore_obsolete=True)
    return written.getvalue().decode().strip("\n") + "\n"


def list_problems(catalogue: Catalog) -> Iterator[str]:
    """Yield a line for each entry whose translation is missing or fuzzy."""
    for message in catalogue:
        if message.id and (message.fuzzy or not message.string):
            state = "fuzzy" if message.fuzzy else "missing"
            yield f"{message.context}: {state}: {str(message.id).strip().partition(chr(10))[0]}"


def collect_texts() -> dict[Path, Texts]:
    """Return the English texts, except notes, for each folder that has catalogues.

    Texts that are defined outside the folders of katas (tracks, contracts, shared mistakes) are in the shared
    catalogue. If several of them have the same key but are different, only the first one is shared.
    """
    shared = {f"tracks.{name}": track.title for name, track in course().tracks.items()}
    shared |= {f"endings.{name}": track.ending for name, track in course().tracks.items() if track.ending}
    shared |= {f"endings.{WHOLE}": course().ending} if course().ending else {}
    shared |= {f"ways.{title}": title for title in course().ways}
    found: dict[Path, Texts] = {}
    for kata in course().katas.values():
        own = found[course().folder(kata.name)] = Texts()
        for key, english, is_own in extract_texts(kata):
            if is_own or shared.setdefault(key, english) != english:
                own[key] = english
    found[course().reference] = shared
    if course().root == ENGINE:
        found[Path(i18n.__file__).parent] = {key: text for key, text in i18n.texts("en").items() if text}
    return found


def extract_texts(kata: Kata) -> Iterator[tuple[str, str, bool]]:
    """Yield the key of each text of a kata, the text, and whether the kata's own files define it."""
    single = {"title": kata.title, "after": kata.after}
    single |= {f"hints.{number}": hint for number, hint in enumerate(kata.hints, start=1)}
    single |= {"about": find_section(kata)}
    single |= {f"stub.{name}": text for name, text in extract_docstrings(kata).items()}
    yield from ((key, text, True) for key, text in single.items() if text)
    own_test = course().test_file(kata.name)
    tests = [path for path in follow_imports([own_test]) if path.is_relative_to(course().tests)]
    claims = {path: extract_claims(path) for path in sorted(tests, key=lambda path: path != own_test)}
    for test in dict.fromkeys(name.partition("[")[0] for name in kata.points):
        path = next((path for path in claims if test in claims[path]), None)
        if path is not None and claims[path][test]:
            yield f"claims.{test}", claims[path][test], path == own_test
    for name, mistake in load_named_mistakes(kata.name).items():
        is_own = mistake.mistaken.__module__ == f"reference.{kata.name}.mistakes"
        yield f"looks_like.{name}", mistake.message, is_own
    for name, question in load_questions(kata.name).items():
        for field in ("text", "unit", "formula"):
            if text := getattr(question, field):
                yield f"questions.{name}.{field}", text, True
    yield from ((f"command.{key}", text, True) for key, text in kata.command.items() if key != "name")


def extract_docstrings(kata: Kata) -> Texts:
    """Return the docstrings of a stub, keyed by name. The module's docstring is excluded if it has only one line."""
    tree = ast.parse(course().stub(kata.name).read_text("utf-8"))
    itself = ast.get_docstring(tree) or ""
    named = {name: ast.get_docstring(node) for name, node in documented(tree, "")}
    return ({f"{kata.name}.py": itself} if "\n" in itself else {}) | {
        name: text for name, text in named.items() if text
    }


@cache
def extract_claims(path: Path) -> Texts:
    """Return the first lines of the docstrings of all tests in a module, including those inside functions."""
    nodes = [node for node in ast.walk(ast.parse(path.read_bytes())) if isinstance(node, ast.FunctionDef)]
    tests = [node for node in nodes if node.name.startswith("test_")]
    return {node.name: (ast.get_docstring(node) or "").partition("\n")[0] for node in tests}


def collect_sentences() -> dict[Path, list[str]]:
    """Return the sentences in tests' messages, with {names} in place of values, by the folder of their catalogue."""
    found: dict[Path, list[str]] = defaultdict(list)
    for path in sorted(course().tests.rglob("*.py")):
        kata = path.stem.removeprefix("test_") if path.parent == course().tests else path.stem
        folder = course().folder(kata) if kata in course().katas else course().reference
        found[folder] += extract_sentences(path)
    return found


def extract_sentences(path: Path) -> Iterator[str]:
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


def is_in_sources(note: str) -> bool:
    """Return whether the sources contain a note or all of its clauses. Code can build a note from several strings."""
    samples, known = collect_strings()
    clauses = {clause for text in split_literals(note) for clause in split_clauses(text)}
    pattern = compile_pattern(note)
    return clauses <= known | {""} or any(pattern.fullmatch(sample) for sample in samples)


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


if __name__ == "__main__":
    sys.exit(main())

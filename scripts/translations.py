"""Update the catalogues of translations with Babel, and list what is missing or fuzzy: `make translations`.

    python -m scripts.translations [COURSE]

The English texts are extracted from their sources: `kata.toml`, stubs, tests, mistakes, questions, `docs/katas.md` and
calls such as `_("a sentence")`. A translation whose English text has changed becomes fuzzy: it is not used until it is
corrected and the mark is removed. Catalogues are not wrapped, so that a text is one line and a changed word is a small
difference.
"""

import argparse
import ast
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from io import BytesIO, StringIO
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

from babel.messages.catalog import Catalog
from babel.messages.pofile import PoFileError, escape, read_po, write_po
from jinja2 import Environment, nodes

from grader.base.imports import follow_imports
from grader.commands.release.contract import documented
from torchkata import i18n
from torchkata.cli.about import find_section
from torchkata.course import ENGINE, CourseError, Kata, course, use
from torchkata.course.load import WHOLE, read_toml
from torchkata.course.predictions import load_questions
from torchkata.diagnosis.mistakes import load_named_mistakes

Texts: TypeAlias = dict[str, str]  # English texts by key
Sentence: TypeAlias = str | tuple[str, str]  # a sentence, or its singular and plural

MARKERS = ("_", "say", "Text")  # functions whose first argument is a sentence to translate
ENGINE_CATALOGUES = Path(i18n.__file__).parent
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
    texts, messages = collect_texts(), collect_messages()
    found: dict[Path, tuple[str, list[str]]] = {}
    for language in languages:
        catalogues = {folder: read_catalogue(folder / f"{language}.po") for folder in texts}
        known = {
            one.id: one for each in catalogues.values() for one in each if one.id and one.string and not one.context
        }
        for folder, catalogue in catalogues.items():
            for message in messages.get(folder, []):
                if message in known and message not in catalogue:  # a catalogue may share it now, or no longer
                    catalogue[message] = known[message]
            update(catalogue, make_template(texts[folder], messages.get(folder, [])))
            path = folder / f"{language}.po"
            header = read_text(path).partition("\n\n")[0] or make_header(language)
            found[path] = (f"{header.strip()}\n\n{format_entries(catalogue)}", [*list_problems(catalogue)])
    return found


def read_catalogue(path: Path) -> Catalog:
    """Return the catalogue in a file, or an empty one if there is no file. Raises CourseError if it can't be read."""
    try:
        return read_po(StringIO(read_text(path)), locale=path.stem, abort_invalid=True)
    except PoFileError as error:
        raise CourseError(f"{path}: can't be read (syntax error in line {error.lineno + 1})") from None
    except (OSError, ValueError) as error:
        raise CourseError(f"{path}: can't be read ({error})") from None


def make_template(texts: Texts, messages: Iterable[Sentence]) -> Catalog:
    """Return a catalogue of English texts, in this order."""
    template = Catalog()
    for key, english in texts.items():
        template.add(english, context=key)
    for message in messages:
        template.add(message)
    return template


def update(catalogue: Catalog, template: Catalog) -> None:
    """Give a catalogue the texts of a template, like `pybabel update`, and keep translations as far as possible.

    Babel finds an entry by its key and its English text, or a similar entry, which becomes fuzzy. Before that, a text
    whose key has changed gets its old translation, and one whose English text has changed gets it as a fuzzy one,
    however different the new text is.
    """
    old = [message for message in catalogue if message.id and message.string and message.context]
    by_english, by_key = {message.id: message for message in old}, {message.context: message for message in old}
    present = {message.id for message in template}
    for text in template:
        if text.id and text.context and catalogue.get(text.id, text.context) is None:
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
        if message.id and (message.fuzzy or not any(message.string or ())):
            state = "fuzzy" if message.fuzzy else "missing"
            english = message.id if isinstance(message.id, str) else message.id[0]
            yield f"{message.context or 'message'}: {state}: {english.strip().partition(chr(10))[0]}"


def collect_texts() -> dict[Path, Texts]:
    """Return the English texts, except messages, for each folder that has catalogues.

    Texts that a kata uses from elsewhere (tracks, contracts, another kata's mistakes) are in the shared catalogue. If
    several of them have the same key but are different, only the first one is shared.
    """
    shared = {f"tracks.{name}": track.title for name, track in course().tracks.items()}
    shared |= {f"endings.{name}": track.ending for name, track in course().tracks.items() if track.ending}
    shared |= {f"endings.{WHOLE}": course().ending} if course().ending else {}
    shared |= {f"ways.{title}": title for title in course().ways}
    texts = {course().folder(kata.name): [*extract_texts(kata)] for kata in course().katas.values()}
    for key, english, is_own in chain.from_iterable(texts.values()):
        if not is_own:
            shared.setdefault(key, english)
    found = {
        folder: {key: english for key, english, _ in each if shared.get(key) != english}
        for folder, each in texts.items()
    }
    found[course().reference] = shared
    if course().root == ENGINE:
        found[ENGINE_CATALOGUES] = {}
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
    for test in dict.fromkeys(name.partition("[")[0] for name in chain(*kata.tests.values())):
        path = next((path for path in claims if test in claims[path]), None)
        if path is not None and claims[path][test]:
            yield f"claims.{test}", claims[path][test], path == own_test
    for name, mistake in load_named_mistakes(kata.name).items():
        is_own = mistake.mistaken.__module__.startswith(f"reference.{kata.name}.")
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


def collect_messages() -> dict[Path, list[Sentence]]:
    """Return the sentences in messages, by the folder of their catalogue. The course shares those of several katas."""
    own: dict[Path, dict[Sentence, None]] = defaultdict(dict)
    for path, messages in extract_all_messages():
        folder = find_folder(path)
        own[folder] |= dict.fromkeys(messages)
    engine, shared = own[ENGINE_CATALOGUES], own[course().reference]
    uses = Counter(message for messages in own.values() for message in messages)
    for folder in sorted(own.keys() - {ENGINE_CATALOGUES, course().reference}):
        shared |= {message: None for message in own[folder] if uses[message] > 1}
        own[folder] = {message: None for message in own[folder] if message not in shared}
    own[course().reference] = {message: None for message in shared if message not in engine}
    return {folder: [*messages] for folder, messages in own.items()}


def extract_all_messages() -> Iterator[tuple[Path, Iterable[Sentence]]]:
    """Yield the source files that have messages, with the sentences in them."""
    engine = [path for name in ("torchkata", "grader") for path in sorted((ENGINE / name).rglob("*.py"))]
    paths = [path for path in engine if not path.is_relative_to(ENGINE / "grader/tests")]
    for folder in (course().tests, course().reference):
        paths += sorted(folder.rglob("*.py"))
    for path in paths:
        yield path, extract_messages(path.read_bytes())
    for path in sorted((ENGINE / "grader").rglob("*.html")):
        calls = Environment().parse(path.read_text("utf-8")).find_all(nodes.Call)
        named = [call for call in calls if isinstance(call.node, nodes.Name) and call.node.name in MARKERS]
        yield path, [call.args[0].as_const() for call in named]
    for path in sorted(course().reference.rglob("visible.toml")):
        yield path, [*list_values(read_toml(path), "says")]
    for workload in course().workloads:
        from torchkata.pytest_plugin.gpu import get_claim  # imports torch

        yield course().reference / "workloads", [get_claim(workload).english]


def find_folder(path: Path) -> Path:
    """Return the folder with the catalogue for the messages in a source file."""
    if path.is_relative_to(course().tests):
        kata = path.stem.removeprefix("test_")
        return course().folder(kata) if kata in course().katas else course().reference
    if path.is_relative_to(course().reference):
        kata = path.relative_to(course().reference).parts[0]
        return course().folder(kata) if kata in course().katas else course().reference
    return ENGINE_CATALOGUES


def extract_messages(source: bytes) -> Iterator[Sentence]:
    """Yield the sentences that are passed to the `MARKERS`, in the order of the source code."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call) and node.args]
    for call in sorted(calls, key=lambda call: (call.lineno, call.col_offset)):
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        if name == "ngettext":
            yield ast.literal_eval(call.args[0]), ast.literal_eval(call.args[1])
        elif name in MARKERS:
            yield from list_sentences(call.args[0])


def list_sentences(argument: ast.expr) -> Iterator[str]:
    """Yield the string literals from which an argument is chosen."""
    if isinstance(argument, ast.IfExp):
        yield from (*list_sentences(argument.body), *list_sentences(argument.orelse))
    elif isinstance(argument, ast.Constant) and argument.value and isinstance(argument.value, str):
        yield argument.value


def list_values(table: Any, key: str) -> Iterator[str]:
    """Yield the values of a key in a table and its subtables."""
    for name, value in table.items():
        if isinstance(value, dict):
            yield from list_values(value, key)
        elif name == key:
            yield value


if __name__ == "__main__":
    sys.exit(main())

"""`grader translations`: compares catalogues with the current English texts, and updates them like `msgmerge`."""

from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path

import polib

from grader.base.errors import convert_write_errors
from grader.commands.translations.english import (
    Text,
    collect_english,
    collect_notes,
    collect_strings,
    fill_in,
    split_clauses,
)
from torchkata.course import ENGINE, CourseError, course
from torchkata.i18n.catalogues import NOTE
from torchkata.i18n.notes import compile_pattern, split_literals

HAS_VALUES = "python-brace-format"  # the flag with which gettext's tools compare {placeholders}
SIMILAR = 0.7  # difflib's ratio from which a note counts as an older version of another one
WIDTH = 78  # columns of a line in a catalogue


def run_translations(katas: tuple[str, ...], *, update: bool) -> int:
    """Print a line for each missing or outdated translation. Return 0, because translations are optional.

    With `update`, first write the current English texts into the catalogues. Raises CourseError if a
    catalogue can't be read, or CallError if it can't be written.
    """
    others = [language for language in course().languages if language != "en"]
    if not others:
        print('the course has no language other than English (add languages = ["en", "zh"] to pyproject.toml)')
        return 0
    problems = []
    for language in others:
        files = update_catalogues(language, katas)
        if update:
            with convert_write_errors(course().root):
                for path in write_catalogues(files):
                    print(f"{shorten(path)}: updated")
        problems += [line for path, file in files.items() for line in describe_problems(shorten(path), file)]
    print("\n".join(problems or ["everything is translated"]))
    return 0


def shorten(path: Path) -> str:
    """Return a path relative to the root of the course or of the engine."""
    return path.relative_to(course().root if path.is_relative_to(course().root) else ENGINE).as_posix()


def update_catalogues(language: str, katas: Sequence[str]) -> dict[Path, polib.POFile]:
    """Return the catalogues of these katas, keyed by path, with the current English texts.

    Raises CourseError if a catalogue can't be read.
    """
    texts, notes = collect_english(katas), collect_notes(katas)
    paths = {folder: folder / f"{language}.po" for folder in texts}
    old = {folder: read_entries(path) for folder, path in paths.items()}
    everywhere = {folder: read_entries(folder / f"{language}.po") for folder in collect_english([*course().katas])}
    known = [compile_pattern(entry.msgid) for file in everywhere.values() for entry in file if entry.msgctxt == NOTE]
    return {
        path: merge(
            old[folder],
            language,
            texts[folder],
            [one for one in notes.get(folder, []) if not any(note.fullmatch(fill_in(one)) for note in known)],
        )
        for folder, path in paths.items()
    }


def read_entries(path: Path) -> polib.POFile:
    """Return a catalogue with its English texts. If there is no file, return an empty catalogue.

    Raises CourseError if the file can't be read.
    """
    try:
        return polib.pofile(str(path), encoding="utf-8", wrapwidth=WIDTH) if path.is_file() else polib.POFile()
    except (OSError, ValueError) as error:
        raise CourseError(f"{path}: can't be read ({error})") from None


def merge(old: polib.POFile, language: str, texts: Sequence[Text], sentences: Sequence[str]) -> polib.POFile:
    """Return a catalogue of these texts, the old notes that are still in the sources, and these new sentences.

    A translation whose English text has changed becomes fuzzy. A text whose key has changed keeps its translation.
    Other entries whose English text no longer exists are dropped.
    """
    entries = [entry for entry in old if not entry.obsolete]
    by_key = {entry.msgctxt: entry for entry in entries if entry.msgctxt != NOTE}
    by_english = {get_translated_english(entry): entry for entry in by_key.values()}
    present = {text.english for text in texts}
    notes = {entry.msgid: entry for entry in entries if entry.msgctxt == NOTE}
    live = [english for english in notes if is_in_sources(english)]
    gone = {join_literals(english): entry for english, entry in notes.items() if english not in live}
    new = polib.POFile(wrapwidth=WIDTH)
    new.header, new.metadata = old.header, old.metadata or make_header(language)
    for text in texts:
        older = by_key.get(text.key)
        if older is None or get_translated_english(older) != text.english:
            is_free = older is not None and get_translated_english(older) not in present
            older = by_english.get(text.english) or (older if is_free else None)
        new.append(renew(older, text))
    for english in live:
        new.append(renew(notes[english], make_note(english)))
    for english in dict.fromkeys(sentences):
        similar = get_close_matches(join_literals(english), gone, n=1, cutoff=SIMILAR)
        new.append(renew(gone[similar[0]] if similar else None, make_note(english)))
    return new


def make_header(language: str) -> dict[str, str]:
    """Return the header of a new catalogue."""
    return {
        "Project-Id-Version": course().title,
        "Language": language,
        "MIME-Version": "1.0",
        "Content-Type": "text/plain; charset=UTF-8",
        "Content-Transfer-Encoding": "8bit",
    }


def make_note(english: str) -> Text:
    """Convert a note to a text. It does not have a key of its own."""
    return Text(NOTE, english, len(split_literals(english)) > 1 or "{" in english)


def join_literals(note: str) -> str:
    """Return the literal parts of a note, without the placeholders for values."""
    return "".join(split_literals(note))


def is_in_sources(note: str) -> bool:
    """Return whether the sources contain a note or all of its clauses. Code can build a note from several strings."""
    samples, known = collect_strings()
    clauses = {clause for text in split_literals(note) for clause in split_clauses(text)}
    pattern = compile_pattern(note)
    return clauses <= known | {""} or any(pattern.fullmatch(sample) for sample in samples)


def renew(old: polib.POEntry | None, text: Text) -> polib.POEntry:
    """Return the entry for a text. If the old entry translates a different English text, the new one is fuzzy."""
    new = polib.POEntry(msgctxt=text.key, msgid=text.english)
    if text.has_values:
        new.flags = [HAS_VALUES]
    if old is not None:
        new.msgstr, new.tcomment = old.msgstr, old.tcomment
        translated = get_translated_english(old)
        if new.msgstr and (translated != text.english or (old.fuzzy and not old.previous_msgid)):
            new.flags.append("fuzzy")
            new.previous_msgid = translated if translated != text.english else None
    return new


def get_translated_english(entry: polib.POEntry) -> str:
    """Return the English text from which an entry was translated."""
    return str((entry.fuzzy and entry.previous_msgid) or entry.msgid)


def write_catalogues(files: dict[Path, polib.POFile]) -> Iterator[Path]:
    """Write the catalogues that have changed, and yield their paths. Raises OSError if one can't be written."""
    for path, new in files.items():
        content = str(new)
        if (path.read_text("utf-8") if path.is_file() else "") != content:
            path.write_text(content, "utf-8")
            yield path


def describe_problems(place: str, entries: Iterable[polib.POEntry]) -> Iterator[str]:
    """Yield a line for each entry without a translation or with an outdated one."""
    for entry in entries:
        if not entry.translated():
            state = "outdated" if entry.fuzzy else "missing"
            yield f"{place}: {entry.msgctxt}: {state}: {entry.msgid.strip().partition(chr(10))[0]}"

"""Tests of `grader translations`: outdated and missing translations are listed, and catalogues are updated."""

import shutil
from pathlib import Path

import polib
import pytest

from grader.commands.translations.update import read_entries
from grader.tests import ROOT
from grader.tests.conftest import run, run_kata

SHARED, NORMALISE = "reference/zh.po", "reference/normalise/zh.po"
NOTE = 'f"row {len([1]):d} is still missing"'


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    return shutil.copytree(ROOT / "examples/courses/vectors", tmp_path / "vectors")


def call(course: Path, *options: str) -> list[str]:
    """Run the command and return the lines of its output."""
    done = run("grader", "--course", str(course), "translations", *options)
    assert (done.code, done.err) == (0, "")
    return done.out.splitlines()


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")


def read(path: Path) -> dict[str, polib.POEntry]:
    return {entry.msgctxt: entry for entry in read_entries(path)}


def show_hint(course: Path) -> str:
    return run_kata(course, "hint", "normalise", KATA_LANG="zh").out


def test_update_does_not_change_up_to_date_catalogues(vectors: Path) -> None:
    before = {path: path.read_bytes() for path in vectors.rglob("*.po")}
    assert len(before) == 4
    assert call(vectors) == call(vectors, "--update") == ["everything is translated"]
    assert {path: path.read_bytes() for path in vectors.rglob("*.po")} == before


def test_translation_of_changed_english_is_not_used(vectors: Path) -> None:
    settings, path = vectors / "reference/normalise/kata.toml", vectors / NORMALISE
    before, content = read(path)["title"], path.read_bytes()
    assert before.msgstr in show_hint(vectors)
    edit(settings, before.msgid, "Rows of length one")
    outdated = f"{NORMALISE}: title: outdated: Rows of length one"
    assert call(vectors, "--kata=normalise") == [outdated]
    assert path.read_bytes() == content, "only --update writes"
    assert call(vectors, "--kata=normalise", "--update") == [f"{NORMALISE}: updated", outdated]
    entry = read(path)["title"]
    assert (entry.msgid, entry.msgstr, entry.flags) == ("Rows of length one", before.msgstr, ["fuzzy"])
    assert entry.previous_msgid == before.msgid
    assert "Rows of length one" in show_hint(vectors)
    edit(settings, "Rows of length one", "Rows of norm one")
    call(vectors, "--update")
    assert read(path)["title"].previous_msgid == before.msgid, "the English text that was translated"
    edit(settings, "Rows of norm one", before.msgid)
    assert call(vectors, "--update") == [f"{NORMALISE}: updated", "everything is translated"]
    assert path.read_bytes() == content


def test_update_adds_new_texts_and_drops_removed_ones(vectors: Path) -> None:
    settings, tests, path = (
        vectors / name for name in ("reference/normalise/kata.toml", "tests/test_normalise.py", NORMALISE)
    )
    before = read(path)
    for file in (tests, settings):
        edit(file, "test_argument_is_not_modified", "test_argument_stays_the_same")
    edit(settings, "hints = [", 'hints = [\n    "A new first hint.",')
    tests.write_text(f"{tests.read_text('utf-8')}\n\nNOTE = {NOTE}\n", "utf-8")
    assert call(vectors, "--update") == [
        f"{NORMALISE}: updated",
        f"{NORMALISE}: hints.1: missing: A new first hint.",
        f"{NORMALISE}: note: missing: row {{value1}} is still missing",
    ]
    after = read(path)
    moved = {"hints.2": "hints.1", "claims.test_argument_stays_the_same": "claims.test_argument_is_not_modified"}
    for new, old in moved.items():
        assert after[new].msgstr == before[old].msgstr, "a text that moves keeps its translation"
    assert "claims.test_argument_is_not_modified" not in after
    assert after["note"].flags == ["python-brace-format"]
    edit(
        path,
        '"row {value1} is still missing"\nmsgstr ""',
        '"row {row} is still missing"\nmsgstr "缺第 {row} 行"',
    )
    assert "note" not in "".join(call(vectors, "--update"))
    edit(tests, "is still missing", "is still missing here")
    assert f"{NORMALISE}: note: outdated: row {{value1}} is still missing here" in call(vectors, "--update")
    edit(tests, NOTE.replace("is still missing", "is still missing here"), "None")
    assert call(vectors, "--update") == [f"{NORMALISE}: updated", f"{NORMALISE}: hints.1: missing: A new first hint."]
    assert read(path)["note"].msgid == before["note"].msgid


def test_first_update_writes_complete_catalogues(vectors: Path) -> None:
    for path in vectors.rglob("*.po"):
        path.unlink()
    lines = call(vectors, "--update")
    assert f"{SHARED}: tracks.vectors: missing: " in "\n".join(lines)
    for group in ("title", "hints.1", "stub.normalise", "claims.test_", "looks_like."):
        assert any(line.startswith(f"{NORMALISE}: {group}") and ": missing: " in line for line in lines), group
    file = read_entries(vectors / NORMALISE)
    assert (file.metadata["Language"], file.metadata["Content-Type"]) == ("zh", "text/plain; charset=UTF-8")
    assert show_hint(vectors) != ""


def test_course_in_english_has_nothing_to_translate(vectors: Path) -> None:
    edit(vectors / "pyproject.toml", 'languages = ["en", "zh"]', 'languages = ["en"]')
    (line,) = call(vectors)
    assert line.startswith("the course has no language other than English")

"""Tests of `make translations`: catalogues get new and changed English texts, and keep their translations."""

import shutil
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog

from grader.tests import ROOT
from grader.tests.conftest import Run, run, run_kata
from grader.tests.support.translations import read_entries
from scripts.translations import list_problems, make_template, update

SIEVE = "reference/sieve/zh.po"
TEXTS = {"title": "Sieve numbers", "hints.1": "Cross out {n}: 50% off.", "claims.test_a": "It ends"}
TRANSLATED = {"title": "筛数", "hints.1": "划掉 {n}：五折。", "claims.test_a": "会结束"}
REMARK = "row {row} of the sieve is missing"


def make_catalogue() -> Catalog:
    """Return a catalogue in which all texts and one note are translated."""
    catalogue = make_template(TEXTS, [REMARK])
    for message in catalogue:
        if message.id:
            message.string = TRANSLATED.get(str(message.context), "筛子缺第 {row} 行")
    return catalogue


def list_entries(catalogue: Catalog) -> dict[str | None, tuple[object, object, set[str]]]:
    """Return the English text, translation and flags of each entry."""
    return {entry.context: (entry.id, entry.string, entry.flags) for entry in catalogue if entry.id}


@pytest.mark.parametrize("english", ["Sieve the numbers", "An entirely different headline"])
def test_translation_of_changed_english_becomes_fuzzy(english: str) -> None:
    catalogue = make_catalogue()
    update(catalogue, make_template(TEXTS | {"title": english}, [REMARK]))
    assert list_entries(catalogue)["title"] == (english, "筛数", {"fuzzy"})
    assert [*list_problems(catalogue)] == [f"title: fuzzy: {english}"]


def test_text_with_new_key_keeps_its_translation() -> None:
    catalogue = make_catalogue()
    moved = {"hints.1": "zzz", "hints.2": TEXTS["hints.1"], "claims.test_b": TEXTS["claims.test_a"]}
    update(catalogue, make_template({"title": TEXTS["title"], **moved}, [REMARK]))
    after = list_entries(catalogue)
    assert after["hints.2"] == (TEXTS["hints.1"], TRANSLATED["hints.1"], {"python-brace-format"}), "% is no placeholder"
    assert [*after] == ["title", "hints.1", "hints.2", "claims.test_b", None]
    assert after["claims.test_b"] == ("It ends", "会结束", set())
    assert "claims.test_a" not in after
    assert [*list_problems(catalogue)] == ["hints.1: missing: zzz"]


def test_note_with_changed_words_becomes_fuzzy() -> None:
    catalogue = make_catalogue()
    update(catalogue, make_template(TEXTS, [f"{REMARK} here", "not similar"]))
    assert [*list_problems(catalogue)] == [f"message: fuzzy: {REMARK} here", "message: missing: not similar"]


@pytest.fixture
def primes(tmp_path: Path) -> Path:
    """Return a course in English and Chinese without catalogues."""
    place = shutil.copytree(ROOT / "examples/courses/primes", tmp_path / "primes")
    edit(place / "pyproject.toml", "[tool.torchkata]\n", '[tool.torchkata]\nlanguages = ["en", "zh"]\n')
    return place


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")


def call(course: Path) -> list[str]:
    """Run the script and return the lines of its output."""
    done = run("scripts.translations", str(course))
    assert (done.code, done.err) == (0, "")
    return done.out.splitlines()


def read(path: Path) -> dict[str, tuple[str, str]]:
    return {entry.msgctxt: (entry.msgid, entry.msgstr) for entry in read_entries(path)}


def test_catalogues_are_written_and_updated(primes: Path) -> None:
    lines = call(primes)
    assert f"{SIEVE}: updated" in lines
    assert "reference/zh.po: tracks.primes: missing: Prime numbers" in lines
    for group in ("title", "hints.1", "stub.sieve", "claims.test_", "looks_like."):
        assert any(line.startswith(f"{SIEVE}: {group}") and ": missing: " in line for line in lines), group
    assert '"Language: zh\\n"' in (primes / SIEVE).read_text("utf-8")
    english = read(primes / SIEVE)["title"][0]
    edit(primes / SIEVE, f'msgid "{english}"\nmsgstr ""', f'msgid "{english}"\nmsgstr "筛法"')
    edit(primes / SIEVE, '"Language: zh\\n"', '"Language: zh\\n"\n"Last-Translator: A\\n"')
    content = (primes / SIEVE).read_bytes()
    assert call(primes) == [line for line in lines if "updated" not in line and f"{SIEVE}: title" not in line]
    assert (primes / SIEVE).read_bytes() == content, "an update without changed English changes nothing"
    assert "筛法" in run_kata(primes, "hint", "sieve", KATA_LANG="zh").out
    tests = primes / "tests/test_sieve.py"
    for file in (primes / "reference/sieve/kata.toml", tests):
        file.write_text(file.read_text("utf-8").replace(english, "Cross out"), "utf-8")
    tests.write_text(f'{tests.read_text("utf-8")}\n\nNOTE = Text("row {{row}} is still missing", row=1)\n', "utf-8")
    lines = call(primes)
    assert f"{SIEVE}: title: fuzzy: Cross out" in lines
    assert f"{SIEVE}: message: missing: row {{row}} is still missing" in lines
    assert "筛法" not in run_kata(primes, "hint", "sieve", KATA_LANG="zh").out
    edit(primes / SIEVE, 'still missing"\nmsgstr ""', 'still missing"\nmsgstr "缺第 {row} 行"')
    assert "message" not in "".join(call(primes))
    edit(tests, "is still missing", "has gone")
    call(primes)
    assert ("row {row} is still missing", "缺第 {row} 行") not in read(primes / SIEVE).values()


def test_course_without_texts_to_translate_is_reported(tmp_path: Path) -> None:
    absent = run("scripts.translations", str(tmp_path))
    assert (absent.code, absent.out, len(absent.err.splitlines()), "Traceback" in absent.err) == (2, "", 1, False)
    done = run("scripts.translations", str(ROOT / "examples/courses/primes"))
    assert done == Run(0, 'the course has only English (add languages = ["en", "zh"] to its pyproject.toml)\n', "")

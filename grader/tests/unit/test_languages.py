"""Tests of the translations: all languages have the same keys and placeholders, and Chinese is used if selected."""

import ast
import re
import string
import sys
from pathlib import Path
from typing import get_args

import polib
import pytest
import torch

from grader.output.speed_score import Measure
from grader.results.view import HAND_IN, PERFORMANCE
from grader.tests import ROOT
from grader.tests.support.translations import CHINESE, find_catalogues, find_fault, read_entries
from scripts import translations
from torchkata import i18n
from torchkata.compare.assertions import assert_equal, check, precondition
from torchkata.course import CourseError, Kata, course
from torchkata.course.model import Difficulty
from torchkata.diagnosis.crashes import PATTERNS
from torchkata.diagnosis.mistakes import load_named_mistakes
from torchkata.diagnosis.mistakes import translate_mistake as mistake_of
from torchkata.i18n import (
    LANGUAGES,
    Language,
    find_shared_text,
    language,
    preload_texts,
    texts,
    words,
)
from torchkata.i18n.catalogues import NOTE, Catalogue, find_catalogue, read_catalogue
from torchkata.i18n.katas import about, claim_of, hints_of, title_of
from torchkata.i18n.notes import split_literals, translate
from torchkata.inside.source.differences import CALLS, RAISED_IN
from torchkata.inside.values import Opaque
from torchkata.result import Status
from torchkata.seam.failures import Unmet, Wrong

SAYING = ("say", "words", "class_words")


def test_engine_texts_are_translated_into_every_language() -> None:
    english = texts("en")
    for other in (other for other in LANGUAGES if other != "en"):
        entries = read_entries(ROOT / f"torchkata/i18n/{other}.po")
        assert [entry.msgctxt for entry in entries if not entry.translated()] == []
        found = {entry.msgctxt: entry.msgid for entry in entries if entry.msgctxt != NOTE}
        assert found == {key: text for key, text in english.items() if text}
        for key, text in texts(other).items():
            assert list_placeholders(text) == list_placeholders(english[key]), key


def list_placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def test_update_changes_no_catalogue_of_this_checkout() -> None:
    updated = translations.update_catalogues(["zh"])
    assert {ROOT / "torchkata/i18n/zh.po", ROOT / "reference/zh.po", ROOT / "reference/linear/zh.po"} <= updated.keys()
    for path, (content, _) in updated.items():
        if path.exists():  # translations are optional
            assert path.read_text("utf-8") == content, "run `make translations`"


def test_every_text_key_is_used_and_exists() -> None:
    known = texts("en").keys()
    literal: set[str] = set()
    ours = [path for engine in ("torchkata", "grader") for path in (ROOT / engine).rglob("*.py")]
    for path in (path for path in ours if "tests" not in path.parts):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                literal.add(node.value)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in SAYING:
                first = node.args[0]
                assert not isinstance(first, ast.Constant) or first.value in known, ast.unparse(node)
    composed = {f"status.{status}" for status in get_args(Status)} | {
        f"{group}.{name}" for group in ("label", "kata", "speed") for name in literal
    }
    for path in (ROOT / "grader/output/page/files").glob("*.html"):
        literal |= {*re.findall(r'"(feedback\.\w+)"', path.read_text("utf-8"))}
    composed |= {f"feedback.{name}" for name in (PERFORMANCE, HAND_IN, *get_args(Measure))}
    composed |= {f"difficulty.{level}" for level in get_args(Difficulty)}
    composed |= {f"crash.{key}" for key in PATTERNS.values()}
    composed |= {f"differs.{key}" for key in (*CALLS, *RAISED_IN.values(), "variable")}
    assert known <= literal | composed


def test_translated_note_has_the_same_placeholders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KATA_LANG", "zh")
    for path in find_catalogues():
        for english, chinese in read_catalogue(path).notes.items():
            assert list_placeholders(english) == list_placeholders(chinese), english
            assert "".join(split_literals(english)).strip(), english
    assert translate("weight 3 of 4 after loading") == "加载后的第 3 个权重（共 4 个）"
    assert translate("gradient of weight 3") == "第 3 个权重的梯度"
    assert translate("my own words") == "my own words"
    assert translate("weight 3", by_us=False) == "weight 3", "a student's own error must not be translated"
    assert translate("linear.py does not define f", by_us=False) == "linear.py 里没有定义 f"


def test_translations_in_shared_catalogue_are_chinese() -> None:
    assert [key for key, text in find_catalogue("zh").texts.items() if text and not CHINESE.search(text)] == []


@pytest.mark.parametrize(
    "path", [path for path in find_catalogues() if path.parent.name != "i18n"], ids=lambda path: path.parent.name
)
def test_translations_keep_numbers_code_and_placeholders(path: Path) -> None:
    faults = [(entry.msgctxt, find_fault(entry)) for entry in read_entries(path)]
    assert [(key, fault) for key, fault in faults if fault] == []


@pytest.mark.parametrize(
    ("key", "chinese", "fault"),
    [
        ("title", "A layer", "contains no Chinese"),
        ("stub.Linear", "例：\n    layer = Linear(3)", "its indented lines differ from those of the stub"),
        ("about", "数 17。\n\n需要：无。", "its numbers differ from those of docs/katas.md"),
    ],
)
def test_translation_that_contradicts_english_is_found(key: str, chinese: str, fault: str) -> None:
    entries = {entry.msgctxt: entry for entry in read_entries(course().folder("linear") / "zh.po")}
    assert find_fault(entries[key]) == ""
    entries[key].msgstr = chinese
    assert find_fault(entries[key]) == fault


def test_texts_are_english_without_polib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polib", None)
    read_catalogue.cache_clear()
    assert find_catalogue("zh") == find_catalogue("zh", "linear") == Catalogue()
    read_catalogue.cache_clear()


def test_unreadable_catalogue_is_reported_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "zh.po"
    path.write_text('msgid "a"\nmsgst "b"\n', "utf-8")
    for read in (read_catalogue, translations.read_catalogue):
        with pytest.raises(CourseError, match=r"zh\.po: can't be read \(.*line 2") as error:
            read(path)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("variables", "chosen"),
    [
        ({"KATA_LANG": "zh"}, "zh"),
        ({"KATA_LANG": "en", "LANG": "zh_CN.UTF-8"}, "en"),
        ({"LC_ALL": "zh_TW.UTF-8", "LANG": "en_US.UTF-8"}, "zh"),
        ({"KATA_LANG": "", "LANG": "zh_CN.UTF-8"}, "zh"),
        ({"KATA_LANG": "fr"}, "en"),
        ({"LANG": "C.UTF-8"}, "en"),
    ],
)
def test_language_is_chosen_by_variable_or_locale(
    variables: dict[str, str], chosen: Language, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("KATA_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert language() == chosen


def test_every_kind_of_text_uses_the_chosen_language(monkeypatch: pytest.MonkeyPatch) -> None:
    sgd, mistake = course().katas["sgd"], load_named_mistakes("sgd")["rate_of_first_group"].message

    def read(kata: Kata) -> list[str]:
        texts = [title_of(kata), *hints_of(kata), *about(kata).values(), mistake_of("sgd", mistake)]
        return texts + [claim_of("sgd", name, "It is so") for name in kata.points]

    english = [sgd.title, *sgd.hints, mistake, *["It is so"] * len(sgd.points)]
    assert read(sgd) == english
    monkeypatch.setenv("KATA_LANG", "zh")
    assert [text for text in [*read(sgd), words("status.done")] if not CHINESE.search(text)] == []
    assert mistake_of("sgd", "a sentence that nobody has written") == "a sentence that nobody has written"
    monkeypatch.setattr(i18n, "find_catalogue", lambda *_: Catalogue())
    linear = course().katas["linear"]
    assert (title_of(linear), hints_of(linear), about(linear)) == (linear.title, list(linear.hints), {})
    assert claim_of("linear", "test_forward", "It is so") == "It is so"
    assert mistake_of("linear", "the weight is transposed") == "the weight is transposed"


def test_failure_message_is_entirely_in_chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KATA_LANG", "zh")
    with pytest.raises(Wrong) as wrong:
        assert_equal(torch.zeros(0), torch.zeros(2), what="gradient of weight")
    assert wrong.value.expected == "weight 的梯度：float32[2]  [0, 0]"
    assert wrong.value.yours == "weight 的梯度：float32[0]  （空）"
    with pytest.raises(Wrong) as wrong:
        assert_equal(Opaque("tensor on the meta device"), torch.zeros(2))
    assert wrong.value.yours == "(meta 设备上的张量)"
    with pytest.raises(Unmet) as unmet, precondition("the uninterrupted run is already wrong"):
        check(False, "something else")
    assert unmet.value.note == "不中断的训练本身就已经不对"


def test_preloaded_texts_are_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KATA_LANG", "zh")
    preload_texts()
    monkeypatch.setattr(polib, "pofile", lambda *_, **__: pytest.fail("a catalogue is read again"))
    monkeypatch.setattr(Path, "read_text", lambda *_: pytest.fail("a file is read again"))
    assert words("label.again")
    assert find_shared_text("claims") == ""

"""Tests of the translations: all languages have the same keys and placeholders, and Chinese is used if selected."""

import ast
import re
import string
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest

from grader.commands.translations import CHINESE, find_wrong_translations, leaves, run_untranslated
from grader.output.speed_score import Measure
from grader.results.view import HAND_IN, PERFORMANCE
from grader.tests import ROOT
from torchkata.compare.assertions import check, precondition
from torchkata.course import Kata, course
from torchkata.course.model import Difficulty
from torchkata.diagnosis.crashes import PATTERNS
from torchkata.diagnosis.mistakes import load_named_mistakes
from torchkata.diagnosis.mistakes import translate_mistake as mistake_of
from torchkata.i18n import (
    LANGUAGES,
    Language,
    count_columns,
    find_shared_text,
    language,
    pad,
    preload_texts,
    texts,
    words,
)
from torchkata.i18n.katas import about, claim_of, hints_of, title_of
from torchkata.i18n.notes import split_literals, translate
from torchkata.result import Status
from torchkata.seam.failures import Unmet

SAYING = ("say", "words", "class_words")
SHARED = {"claims": "tests/contracts/optimizer.py", "looks_like": "reference/optimizer_mistakes.py"}


def test_languages_have_equal_keys_and_placeholders() -> None:
    english = texts("en")["words"]
    for other in LANGUAGES:
        found = texts(other)["words"]
        assert found.keys() == english.keys()
        for key, text in found.items():
            assert list_placeholders(text) == list_placeholders(english[key]), key


def list_placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def test_every_text_key_is_used_and_exists() -> None:
    known = texts("en")["words"].keys()
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
    assert known <= literal | composed


def test_translated_note_has_the_same_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KATA_LANG", "zh")
    tables = [texts("zh")["notes"], course().shared_texts["zh"]["notes"]]
    for english, chinese in ((key, text) for table in tables for key, text in table.items()):
        assert list_placeholders(english) == list_placeholders(chinese), english
        assert "".join(split_literals(english)).strip(), english
    assert translate("weight 3 of 4 after loading") == "载入后的权重 3（共 4 个）"
    assert translate("gradient of weight 3") == "权重 3 的梯度"
    assert translate("my own words") == "my own words"
    assert translate("weight 3", by_us=False) == "weight 3", "a student's own error must not be translated"
    assert translate("linear.py does not define f", by_us=False) == "linear.py 里没有定义 f"


def test_shared_chinese_texts_are_used_and_translated() -> None:
    chinese = course().shared_texts["zh"]
    for table, file in SHARED.items():
        nodes = ast.walk(ast.parse((ROOT / file).read_text("utf-8")))
        names = {node.name for node in nodes if isinstance(node, ast.FunctionDef)}  # including those inside a contract
        assert chinese[table].keys() <= {name for name in names if table == "looks_like" or name.startswith("test_")}
    assert chinese["tracks"].keys() <= course().tracks.keys()
    texts = {key: text for key, text in leaves(chinese) if not key.startswith("notes.")}
    assert [key for key, text in texts.items() if not CHINESE.search(text)] == []


@pytest.mark.parametrize(
    ("changed", "line"),
    [
        ({"title": "Linear"}, "zh.toml: title: contains no Chinese"),
        ({"claims": {"test_none": "没有"}}, "zh.toml: claims.test_none: there is no such text in English"),
        ({"stub": {"Linear": "例：\n    layer = Linear(3)"}}, "zh.toml: stub.Linear: its indented lines"),
        ({"about": "数 17。\n\n需要：无。"}, "zh.toml: about: its numbers differ from those of docs/katas.md"),
        ({"notes": {"weight {one}": "权重 {two}"}}, "zh.toml: notes: 'weight {one}' and its translation have"),
    ],
)
def test_translation_that_contradicts_english_is_found(changed: dict[str, Any], line: str) -> None:
    linear = course().katas["linear"]
    assert list(find_wrong_translations(linear)) == []
    (found,) = find_wrong_translations(replace(linear, languages={"zh": linear.languages["zh"] | changed}))
    assert found.startswith(f"reference/linear/{line}")


def test_untranslated_texts_are_listed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert run_untranslated(("linear",)) == 0
    assert capsys.readouterr().out == "everything is translated\n"
    linear = course().katas["linear"]
    monkeypatch.setitem(course().katas, "linear", replace(linear, languages={}))
    assert run_untranslated(("linear",)) == 0
    lines = capsys.readouterr().out.splitlines()
    assert f"reference/linear/zh.toml: title: {linear.title}" in lines
    assert f"reference/linear/zh.toml: hints: {len(linear.hints)} in English, 0 translated" in lines
    for table in ("stub", "claims", "looks_like"):
        assert any(line.startswith(f"reference/linear/zh.toml: [{table}] ") for line in lines), table


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
    monkeypatch.setitem(course().katas, "linear", replace(course().katas["linear"], languages={}))
    linear = course().katas["linear"]
    assert (title_of(linear), hints_of(linear), about(linear)) == (linear.title, list(linear.hints), {})
    assert claim_of("linear", "test_forward", "It is so") == "It is so"
    assert mistake_of("linear", "the weight is transposed") == "the weight is transposed"


def test_chinese_preconditions_and_column_widths_are_correct(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KATA_LANG", "zh")
    with pytest.raises(Unmet) as unmet, precondition("the uninterrupted run is already wrong"):
        check(False, "something else")
    assert unmet.value.note == "不中断的训练就已经错了"
    assert (count_columns("完成"), count_columns("太慢 a"), pad("完成", 6)) == (4, 6, "完成  "), (
        "wide characters count twice"
    )


def test_preloaded_texts_are_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    preload_texts()
    monkeypatch.setattr(Path, "read_text", lambda *_: pytest.fail("a file is read again"))
    assert words("label.again")
    assert find_shared_text("claims") is None

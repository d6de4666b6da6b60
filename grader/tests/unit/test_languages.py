"""The languages that students read: no key is missing, none is left over, and what is said is in the language."""

import ast
import re
import string
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

from grader.tests import ROOT
from torchkata.course import Kata, course
from torchkata.languages import LANGUAGES, Language, columns, language, padded, texts, words
from torchkata.languages.katas import about, claim_of, hints_of, title_of
from torchkata.mistakes import in_the_students_language as mistake_of
from torchkata.mistakes import named_mistakes
from torchkata.result import Status

KATAS = list(course().katas.values())
CHINESE = re.compile("[\u4e00-\u9fff]")
SHARED = {"claims": "tests/contracts/optimizer.py", "looks_like": "reference/optimizer_mistakes.py"}


def said(path: Path) -> set[str]:
    """The functions of a file, those that a contract makes among them."""
    return {node.name for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.FunctionDef)}


def asked_for(kata: Kata) -> set[str]:
    """The functions and classes of a stub."""
    nodes = ast.parse((ROOT / f"assignment/{kata.name}.py").read_text("utf-8")).body
    return {node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.ClassDef))}


def test_all_languages_have_the_same_texts_with_the_same_placeholders() -> None:
    english = texts("en")["words"]
    for other in LANGUAGES:
        found = texts(other)["words"]
        assert found.keys() == english.keys()
        for key, text in found.items():
            assert names_in(text) == names_in(english[key]), key


def names_in(text: str) -> set[str]:
    """What is filled in."""
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def test_every_text_for_students_is_used_and_every_used_text_exists() -> None:
    known = texts("en")["words"].keys()
    literal: set[str] = set()
    for path in (ROOT / "torchkata").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                literal.add(node.value)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("say", "words"):
                first = node.args[0]
                assert not isinstance(first, ast.Constant) or first.value in known, ast.unparse(node)
    composed = {f"status.{status}" for status in get_args(Status)} | {f"label.{label}" for label in literal}
    assert known <= literal | composed


@pytest.mark.parametrize("kata", KATAS, ids=lambda kata: kata.name)
def test_every_kata_has_in_chinese_all_that_it_has_in_english(kata: Kata) -> None:
    chinese, together = kata.languages["zh"], course().shared_texts["zh"]
    assert len(chinese["hints"]) == len(kata.hints)
    assert chinese["stub"].keys() == asked_for(kata)
    texts_of_command = chinese.get("command", {})
    assert {"name", *texts_of_command} == {"name", *kata.command}
    assert all(names_in(text) == names_in(kata.command[key]) for key, text in texts_of_command.items())
    shared = together["claims"].keys() & said(ROOT / SHARED["claims"])
    assert chinese["claims"].keys() | shared >= kata.points.keys()
    assert chinese["claims"].keys() <= kata.points.keys()
    common = together["looks_like"].keys()
    mistakes = named_mistakes(kata.name).keys()
    assert chinese.get("looks_like", {}).keys() <= mistakes <= chinese.get("looks_like", {}).keys() | common


def test_texts_that_several_katas_share_are_translated_once() -> None:
    for table, file in SHARED.items():
        names = {name for name in said(ROOT / file) if table == "looks_like" or name.startswith("test_")}
        assert course().shared_texts["zh"][table].keys() <= names
    assert course().shared_texts["zh"]["tracks"].keys() == course().tracks.keys()


def leaves(entry: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """All texts, with their keys."""
    if isinstance(entry, str):
        yield path, entry
    for key, inner in entry.items() if isinstance(entry, dict) else enumerate(entry) if isinstance(entry, list) else []:
        yield from leaves(inner, f"{path}.{key}")


def test_every_chinese_text_is_chinese() -> None:
    said = {kata.name: kata.languages["zh"] for kata in KATAS} | course().shared_texts["zh"]
    plain = {key: text for key, text in leaves(said) if not CHINESE.search(text)}
    assert [key for key in plain if "hints" not in key] == []
    assert all(re.search(r"[=(]", text) for text in plain.values())


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
def test_the_language_follows_a_variable_or_the_locale(
    variables: dict[str, str], chosen: Language, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("KATA_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert language() == chosen


def test_every_kind_of_text_of_a_kata_is_found_in_chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    sgd = course().katas["sgd"]
    english = title_of(sgd), hints_of(sgd), about(sgd), claim_of("sgd", "test_a_scheduler_can_drive_it", "It is driven")
    assert english == (sgd.title, list(sgd.hints), {}, "It is driven")
    monkeypatch.setenv("KATA_LANG", "zh")
    mistake = named_mistakes("sgd")["rate_of_first_group"].message
    chinese = [title_of(sgd), *hints_of(sgd), *about(sgd).values(), words("status.done"), mistake_of("sgd", mistake)]
    chinese += [claim_of("sgd", name, "") for name in sgd.points]
    assert all(CHINESE.search(text) for text in chinese)
    assert mistake_of("sgd", "a sentence that nobody has written") == "a sentence that nobody has written"


def test_the_width_of_a_column_counts_wide_characters_twice() -> None:
    assert (columns("done"), columns("完成"), columns("太慢 a")) == (4, 4, 6)
    assert padded("完成", 6) == "完成  "

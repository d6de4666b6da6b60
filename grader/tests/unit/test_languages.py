"""The languages that students read: no key is missing, none is left over, and what is said is in the language."""

import ast
import re
import string
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

from grader.output.speed_score import Measure
from grader.results.view import HAND_IN, PERFORMANCE
from grader.tests import ROOT
from torchkata.cli.about import section
from torchkata.compare import check, precondition
from torchkata.course import Kata, course
from torchkata.crashes import MEANT
from torchkata.failures import Unmet
from torchkata.languages import LANGUAGES, Language, columns, language, padded, read_ahead, shared, texts, words
from torchkata.languages.katas import about, claim_of, hints_of, title_of
from torchkata.languages.notes import literals
from torchkata.languages.notes import said as said_of_answers
from torchkata.mistakes import in_the_students_language as mistake_of
from torchkata.mistakes import named_mistakes
from torchkata.result import Status

KATAS = list(course().katas.values())
CHINESE = re.compile("[\u4e00-\u9fff]")
CODE = re.compile(r"`([^`\n]+)`")
SAYING = ("say", "words", "to_the_class")
IN_WORDS = re.compile(r"[a-z]{2,} [a-z]{2,}")  # two English words
SHARED = {"claims": "tests/contracts/optimizer.py", "looks_like": "reference/optimizer_mistakes.py"}


def said(path: Path) -> set[str]:
    """The functions of a file, those that a contract makes among them."""
    return {node.name for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.FunctionDef)}


def asked_for(kata: Kata) -> dict[str, str]:
    """What a stub says of each of its names, and of itself where that is more than a line."""
    tree = ast.parse(course().stub(kata.name).read_text("utf-8"))
    itself = ast.get_docstring(tree) or ""
    return ({f"{kata.name}.py": itself} if "\n" in itself else {}) | dict(documented(tree, ""))


def documented(node: ast.Module | ast.ClassDef, prefix: str) -> Iterator[tuple[str, str]]:
    """The docstrings of a module or class by full names."""
    for one in node.body:
        if isinstance(one, (ast.FunctionDef, ast.ClassDef)) and (text := ast.get_docstring(one)):
            yield f"{prefix}{one.name}", text
        if isinstance(one, ast.ClassDef):
            yield from documented(one, f"{prefix}{one.name}.")


def code_of(text: str) -> list[str]:
    """The indented lines, without what a comment says."""
    return [line.partition(" # ")[0].rstrip() for line in text.splitlines() if line.startswith("    ")]


def numbers_in(text: str) -> Counter[str]:
    """How often each number stands there."""
    return Counter(re.findall(r"\d(?:[\d.,]*\d)?", text))


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
    composed |= {f"crash.{key}" for key in MEANT.values()}
    assert known <= literal | composed


@pytest.mark.parametrize("kata", KATAS, ids=lambda kata: kata.name)
def test_every_kata_has_in_chinese_all_that_it_has_in_english(kata: Kata) -> None:
    chinese, together = kata.languages["zh"], course().shared_texts["zh"]
    assert len(chinese["hints"]) == len(kata.hints)
    assert chinese["stub"].keys() - {f"{kata.name}.py"} == asked_for(kata).keys() - {f"{kata.name}.py"}
    texts_of_command = chinese.get("command", {})
    assert {"name", *texts_of_command} == {"name", *kata.command}
    assert all(names_in(text) == names_in(kata.command[key]) for key, text in texts_of_command.items())
    shared = together["claims"].keys() & said(ROOT / SHARED["claims"])
    assert chinese["claims"].keys() | shared >= kata.points.keys()
    assert chinese["claims"].keys() <= kata.points.keys()
    common = together["looks_like"].keys()
    mistakes = named_mistakes(kata.name).keys()
    assert chinese.get("looks_like", {}).keys() <= mistakes <= chinese.get("looks_like", {}).keys() | common


def sentences(path: Path) -> Iterator[str]:
    """What a test says in words, with a 7 for each value; of a probe, what it raises."""
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


def test_what_tests_say_has_its_translation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KATA_LANG", "zh")
    found = [text for path in sorted((ROOT / "tests").rglob("*.py")) for text in sentences(path)]
    assert len(found) > 200
    assert [text for text in found if CHINESE.search(said_of_answers(text)) is None] == []


def test_a_translated_note_is_about_the_same_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KATA_LANG", "zh")
    tables = [texts("zh")["notes"], course().shared_texts["zh"]["notes"]]
    tables += [kata.languages["zh"].get("notes", {}) for kata in KATAS]
    for english, chinese in ((key, text) for table in tables for key, text in table.items()):
        assert names_in(english) == names_in(chinese), english
        assert "".join(literals(english)).strip(), english
    assert said_of_answers("weight 3 of 4 after loading") == "载入后的权重 3（共 4 个）"
    assert said_of_answers("gradient of weight 3") == "权重 3 的梯度"
    assert said_of_answers("my own words") == "my own words"
    assert said_of_answers("weight 3", by_us=False) == "weight 3", "a student's own error is left as it is"
    assert said_of_answers("there is no f in linear.py", by_us=False) == "linear.py 里没有 f"


@pytest.mark.parametrize("kata", KATAS, ids=lambda kata: kata.name)
def test_a_task_in_chinese_has_the_examples_and_numbers_of_the_stub(kata: Kata) -> None:
    for name, english in asked_for(kata).items():
        chinese = kata.languages["zh"]["stub"][name]
        pairs = list(zip(code_of(english), code_of(chinese), strict=True))
        assert [one for one, other in pairs if one != other and not CHINESE.search(other)] == []
        examples = ["\n".join(line for line in text.splitlines() if line[:4] == "    ") for text in (english, chinese)]
        assert numbers_in(examples[0]) == numbers_in(examples[1])
        assert {*CODE.findall(english)} <= {*CODE.findall(chinese)}, name


@pytest.mark.parametrize("kata", KATAS, ids=lambda kata: kata.name)
def test_the_idea_of_a_kata_is_told_in_chinese_with_the_same_numbers_and_needs(kata: Kata) -> None:
    english, chinese = section(kata), kata.languages["zh"]["about"]
    assert numbers_in(english) == numbers_in(chinese)
    assert {*CODE.findall(english)} == {*CODE.findall(chinese)}
    needs, needed = english.strip().splitlines()[-1], chinese.strip().splitlines()[-1]
    assert needed.startswith("需要：")
    assert CODE.findall(needs) == CODE.findall(needed)


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
    plain = {key: text for key, text in leaves(said) if ".notes." not in key and not CHINESE.search(text)}
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


def test_what_a_precondition_says_is_in_the_students_language(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KATA_LANG", "zh")
    with pytest.raises(Unmet) as unmet, precondition("already the run without the break goes elsewhere"):
        check(False, "something else")
    assert unmet.value.note == "不中断的训练就已经走到别处"


def test_what_was_read_ahead_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    read_ahead()
    monkeypatch.setattr(Path, "read_text", lambda *_: pytest.fail("a file is read again"))
    assert words("label.again")
    assert shared("claims") is None

"""Tests of the translations: all languages have the same keys and placeholders, and Chinese is used if selected."""

import ast
import re
import sys
from pathlib import Path
from types import CodeType

import polib
import pytest
import torch

from grader.tests import ROOT
from grader.tests.support.translations import CHINESE, find_catalogues, find_fault, list_placeholders, read_entries
from scripts import translations
from torchkata import i18n
from torchkata.compare.assertions import assert_equal, check, precondition
from torchkata.course import CourseError, Kata, course
from torchkata.diagnosis.mistakes import load_named_mistakes
from torchkata.diagnosis.mistakes import translate_mistake as mistake_of
from torchkata.i18n import LANGUAGES, Language, _, find_shared_text, language, ngettext, preload_texts, translate
from torchkata.i18n.catalogues import Catalogue, find_catalogue, read_catalogue
from torchkata.i18n.katas import about, claim_of, hints_of, title_of
from torchkata.inside.text import Text, fill
from torchkata.inside.values import Opaque
from torchkata.seam.failures import Unmet, Wrong

REASONS = ("Died", "Inconclusive", "TimedOut", "blame_machine")  # their first argument is part of a message
DYNAMIC = re.compile(r"english$|\.english$|says|__doc__")  # sentences that are extracted elsewhere


def test_engine_texts_are_translated_into_every_language() -> None:
    for other in (other for other in LANGUAGES if other != "en"):
        entries = read_entries(ROOT / f"torchkata/i18n/{other}.po")
        assert [entry.msgid for entry in entries if entry.msgctxt or not entry.translated()] == []


def test_update_changes_no_catalogue_of_this_checkout() -> None:
    updated = translations.update_catalogues(["zh"])
    assert {ROOT / "torchkata/i18n/zh.po", ROOT / "reference/zh.po", ROOT / "reference/linear/zh.po"} <= updated.keys()
    for path, (content, _problems) in updated.items():
        if path.exists():  # translations are optional
            assert path.read_text("utf-8") == content, "run `make translations`"


def list_local_names(function: ast.FunctionDef) -> tuple[str, ...]:
    """Return the names that a function binds. Comprehensions have names of their own."""
    function.decorator_list = []
    made = [one for one in compile(ast.unparse(function), "", "exec").co_consts if isinstance(one, CodeType)]
    (code,) = (one for one in made if one.co_name == function.name)  # a lambda may be a default
    return code.co_varnames + code.co_cellvars


@pytest.mark.parametrize("folder", ["torchkata", "grader", "tests", "reference"])
def test_sentences_are_literals_and_markers_are_callable(folder: str) -> None:
    """A sentence in a variable would not be found by `make translations`, and a local `_` hides the function."""
    for path in sorted((ROOT / folder).rglob("*.py")):
        tree = ast.parse(path.read_bytes())
        if path.is_relative_to(ROOT / "grader/tests") or "from rich.text import Text" in path.read_text("utf-8"):
            continue
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args]
        for call in (call for call in calls if ast.unparse(call.func) in translations.MARKERS):
            code = ast.unparse(call)
            found, names = [*translations.extract_messages(code.encode())], {each.arg for each in call.keywords}
            assert found or DYNAMIC.search(ast.unparse(call.args[0])), f"{path}: {code}"
            if found and names and None not in names and not isinstance(call.args[0], ast.IfExp):
                assert list_placeholders(str(found[0])) == names, f"{path}: {code}"
        for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
            called = {ast.unparse(call.func) for call in ast.walk(function) if isinstance(call, ast.Call)}
            assert "_" not in called or "_" not in list_local_names(function), f"{path}: {function.name}"


@pytest.mark.parametrize("folder", ["torchkata", "grader/sandbox", "grader/speed"])
def test_reasons_shown_to_students_are_translated(folder: str) -> None:
    plain = []
    for path in sorted((ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in REASONS:
                first = node.args[0] if node.args else None
                if isinstance(first, ast.JoinedStr) or (isinstance(first, ast.Constant) and first.value):
                    plain.append(f"{path.name}, line {node.lineno}: {ast.unparse(node)}")
    assert plain == []


def test_text_is_translated_with_its_values(monkeypatch: pytest.MonkeyPatch) -> None:
    weight = Text("gradient of {name}", name=Text("weight {i} of {all} after loading", i=3, all=4))
    assert (str(weight), translate(weight)) == ("gradient of weight 3 of 4 after loading",) * 2
    monkeypatch.setenv("KATA_LANG", "zh")
    assert str(weight) == "gradient of weight 3 of 4 after loading"
    assert translate(weight) == translate(ValueError(weight)) == "加载后的第 3 个权重（共 4 个） 的梯度"
    assert translate(Text("my own {words}")) == "my own {words}"
    assert translate("the weights") == translate(ValueError("the weights")) == "the weights", "it may be the student's"
    assert _(ngettext("1 day late", "{days} days late", 1), days=1) == "迟交 1 天"
    assert _(ngettext("1 day late", "{days} days late", 2), days=2) == "迟交 2 天"


def test_malicious_text_is_harmless() -> None:
    assert fill("{name.__class__} {name:>9} {{name}} {0}", {"name": "x"}) == "{name.__class__} {name:>9} {x} {0}"
    assert len(fill("{name}" * 10**5, {"name": "x" * 10**6})) < 10**7


def test_translations_in_shared_catalogue_are_chinese() -> None:
    assert [key for key, text in find_catalogue("zh").texts.items() if text and not CHINESE.search(text)] == []


@pytest.mark.parametrize("path", find_catalogues(), ids=lambda path: path.parent.name)
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
    assert [text for text in [*read(sgd), _("done")] if not CHINESE.search(text)] == []
    assert mistake_of("sgd", "a sentence that nobody has written") == "a sentence that nobody has written"
    monkeypatch.setattr(i18n, "find_catalogue", lambda *_: Catalogue())
    linear = course().katas["linear"]
    assert (title_of(linear), hints_of(linear), about(linear)) == (linear.title, list(linear.hints), {})
    assert claim_of("linear", "test_forward", "It is so") == "It is so"
    assert mistake_of("linear", "the weight is transposed") == "the weight is transposed"


def test_failure_message_is_entirely_in_chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KATA_LANG", "zh")
    with pytest.raises(Wrong) as wrong:
        assert_equal(torch.zeros(0), torch.zeros(2), what=Text("gradient of {name}", name="weight"))
    assert wrong.value.expected == "weight 的梯度：float32[2]  [0, 0]"
    assert wrong.value.yours == "weight 的梯度：float32[0]  （空）"
    with pytest.raises(Wrong) as wrong:
        assert_equal(Opaque(Text("tensor on the meta device")), torch.zeros(2))
    assert wrong.value.yours == "(meta 设备上的张量)"
    with pytest.raises(Unmet) as unmet, precondition(Text("the uninterrupted run is already wrong")):
        check(False, "something else")
    assert unmet.value.note == "不中断的训练本身就已经不对"


def test_preloaded_texts_are_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KATA_LANG", "zh")
    preload_texts()
    monkeypatch.setattr(polib, "pofile", lambda *_, **__: pytest.fail("a catalogue is read again"))
    monkeypatch.setattr(Path, "read_text", lambda *_: pytest.fail("a file is read again"))
    assert _("again: ")
    assert find_shared_text("claims") == ""

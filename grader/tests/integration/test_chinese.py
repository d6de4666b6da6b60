"""With `KATA_LANG=zh`, the student's commands print no English sentences."""

import html
import json
import re
import shutil
from pathlib import Path

import pytest

from grader.tests import ROOT
from grader.tests.conftest import get_student_environment, run, run_as_student, run_kata, write_solution
from grader.tests.support.pseudo_terminal import Terminal
from grader.tests.support.solution import copy_course
from grader.tests.support.submissions import edit_solution
from grader.tests.support.warm_process import Fork
from torchkata.cli import about
from torchkata.cli.runs import EXPECTED
from torchkata.course import course
from torchkata.i18n import find_text
from torchkata.i18n.katas import hints_of

SENTENCE = re.compile(r"\b[A-Za-z']+(?: [A-Za-z']+){3,}\b(?!\.\w|[(\[])")  # four words in a row, and no code
QUOTED = re.compile(
    r"`[^`\n]*`|^  (?:位置|执行|报错|异常|打印) .*(?:\n {12}.*)*", re.MULTILINE
)  # code, or Python's own words
KEYS = "n 下一个 · h 提示 · a 全部 · q 退出"


def find_english(printed: str) -> list[str]:
    """Return the English sentences in printed text, except for quoted code and Python's own messages."""
    return SENTENCE.findall(QUOTED.sub("", printed))


@pytest.fixture(autouse=True)
def chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KATA_LANG", "zh")


def save(handout: Path, name: str, old: str, new: str) -> None:
    (handout / "assignment" / f"{name}.py").write_text(edit_solution(name, old, new))


def test_english_sentence_in_chinese_output_is_detected(handout: Path) -> None:
    assert find_english("  说明      the numbers are right, but the shape is wrong") != []
    assert find_english("  报错      TypeError: this is what Python says") == []
    assert find_english(run_kata(handout, "about", "linear", KATA_LANG="en").out) != []


@pytest.mark.sample
@pytest.mark.parametrize("name", [name for name in course().katas if find_text(name, "about", "zh")])
def test_chinese_kata_descriptions_and_hints_contain_no_english(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    about.show(course().katas[name])
    told = [capsys.readouterr().out, *hints_of(course().katas[name])]
    assert find_english("\n".join(told)) == []


def test_chinese_command_output_contains_no_english(handout: Path) -> None:
    save(handout, "linear", "x @ self.weight", "x @ self.weight +")
    calls = [[], ["--help"], ["about"], ["hint", "linear"], ["hint", "linear"], ["hint", "linear"], ["hint", "linear"]]
    calls += [["export"], ["export", "a.txt"], ["reset", "linear"], ["reset", "linear", "--yes"], ["reset", "linear"]]
    calls += [["reset"], ["hnt"], ["hint", "lineal"], ["next", "on"], ["--color"]]
    for call in calls:
        done = run_kata(handout, *call)
        assert find_english(done.out.replace("invalid syntax", "") + done.err) == [], call


@pytest.mark.parametrize(
    ("name", "old", "new", "words"),
    [
        ("linear", "x @ self.weight", "x @ self.weight * 3", "说明      2 个元素中有 2 个的误差超出舍入范围"),
        ("linear", "return x @ self.weight", "raise TypeError('no')", "报错      TypeError: no"),
        ("linear", "return x @ self.weight", "[0 for _ in iter(int, 1) if _]", "超时      你的代码用了超过 0.5 秒的"),
        ("train", "return model, losses", "return losses", "执行      model, losses = "),
    ],
)
def test_chinese_failure_message_contains_no_english(handout: Path, name: str, old: str, new: str, words: str) -> None:
    write_solution(handout, *course().prerequisites(name))
    save(handout, name, old, new)
    options = ["-k", "forward"] if "iter(int, 1)" in new else []
    if options:  # on a busy machine, an endless loop would reach the wall-clock limit first
        settings = handout / "pyproject.toml"
        limits = re.compile(r"^call_seconds .*^wall_factor = \S+", re.MULTILINE | re.DOTALL)
        text = limits.sub("call_seconds = 0.5\nwall_factor = 1000.0", settings.read_text("utf-8"))
        settings.write_text(text, "utf-8")
    done = run_as_student("pytest", EXPECTED, f"--kata={name}", "--examples=20", "--seed=1", *options, cwd=handout)
    assert words in done.out
    assert find_english(done.out) == []


@pytest.mark.parametrize("option", ["--kata=lineal", "--track=cores", "--examples=0", "--impl=nowhere"])
def test_chinese_pytest_option_errors_contain_no_english(new_handout: Path, option: str) -> None:
    done = run_as_student("pytest", option, cwd=new_handout)
    assert (done.code, find_english(done.out + done.err)) == (4, [])


def test_missing_course_error_is_in_chinese(tmp_path: Path) -> None:
    assert (
        run_kata(tmp_path, PYTHONPATH=str(ROOT)).err
        == "kata：这里没有课程：请进入课程的 pyproject.toml 所在的文件夹，或用 `kata init` 新建一个课程\n"
    )


def test_feedback_for_a_chinese_course_is_in_chinese(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KATA_LANG", "en")
    place = copy_course(tmp_path / "course")
    settings = place / "pyproject.toml"
    chinese = settings.read_text("utf-8").replace('languages = ["en", "zh"]', 'languages = ["zh", "en"]')
    settings.write_text(chinese.replace(course().title, "从基本运算学 PyTorch"), "utf-8")
    for name, old, new in (
        ("ada", "x @ self.weight", "(x @ self.weight).unsqueeze(-1)"),
        ("ben", "return x @ self.weight", "import os; os._exit(3)"),
    ):
        (tmp_path / name / "assignment").mkdir(parents=True)
        (tmp_path / name / "assignment/linear.py").write_text(edit_solution("linear", old, new), "utf-8")
    ours, out = ("grader", "--course", str(place)), tmp_path / "out"
    graded = [str(tmp_path / name) for name in ("ada", "ben")]
    done = run(*ours, "grade", *graded, "--kata=linear", "--out", str(out), "--examples=5", "--seed=0")
    assert done.code == 0, done.err
    assert run(*ours, "export", str(out), "--format", "gradescope", "--out", str(out)).code == 0
    assert run(*ours, "report", str(out), "--out", str(out)).code == 0
    for name, told in (("ada", "数值都对，只是形状不对"), ("ben", "你的代码还没返回结果就退出了 Python")):
        shutil.copytree(out / name, tmp_path / "alone" / name / name)
        summary = out / f"{name}.md"
        alone = run(*ours, "export", str(tmp_path / "alone" / name), "--format", "github", "--out", str(summary))
        assert told in alone.out, "the error must be printed as an annotation"
        for page in (out / f"{name}.json", summary, out / name / "feedback.html"):
            text = page.read_text("utf-8")
            if page.suffix == ".json":  # findings are for instructors, and only in English
                text = json.dumps({**json.loads(text), "extra_data": None}, ensure_ascii=False)
            text = html.unescape(re.sub(r"<(style|script|ol).*?</\1>|<[^>]*>", "", text, flags=re.DOTALL))
            assert told in text, page
            assert find_english(text) == [], page


def test_chinese_watch_output_contains_no_english(handout: Path) -> None:
    environment = {**get_student_environment(), "NO_COLOR": "1", "TERM": "xterm"}
    with Terminal(["torchkata", "watch"], handout, environment, Fork) as terminal:
        terminal.read_until(KEYS)
        save(handout, "linear", "x @ self.weight", "x @ self.weight + 1")
        terminal.read_until(KEYS)
        terminal.type("h")
        terminal.read_until("提示 1/")
        terminal.type("n")
        terminal.read_until(KEYS)
        terminal.type("q")
        assert terminal.wait() == 0
    assert "── linear ──" in terminal.all
    assert find_english(terminal.all) == []

"""What a notebook shows and writes, without a kernel: HTML that holds text as text, cells that lose nothing."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.tests.support.html_tree import parse_html
from torchkata.cli.terminal import CallError
from torchkata.course import course, use
from torchkata.diagnosis.explain import explain
from torchkata.i18n import format_label, split_label
from torchkata.notebook import install, magic
from torchkata.notebook.client import Client, Finished
from torchkata.notebook.html import progress, verdict
from torchkata.pytest_plugin.history import LastRun, State
from torchkata.result import TestResult
from torchkata.seam.failures import Crashed, NotStarted, Place, TimedOut, Wrong

LINEAR = course().katas["linear"]
TESTS = list(LINEAR.points)
NASTY = "</pre><script>alert('&')</script>"


class Text:
    """What a reader sees of HTML, and the tags in it."""

    def __init__(self, html: str) -> None:
        root = parse_html(html)
        for style in root.iter("style"):
            style.text = style.tail = ""
        self.tags = [element.tag for element in root.iter()][1:]
        self.texts = [*root.itertext()]


def failed(test: str, error: BaseException, looks_like: str = "") -> TestResult:
    """A failure as it is told."""
    return explain(test, "linear · a claim <b>", error, None, "pytest x", looks_like, looks_like)


def all_tests(*results: TestResult) -> list[TestResult]:
    """These, and all others passed."""
    names = {result.name for result in results}
    return [*results, *(TestResult(test, "passed") for test in TESTS if test not in names)]


def test_what_a_student_says_is_text_in_a_verdict_and_never_markup() -> None:
    wrong = Wrong(expected="float32[2]  [1, 2]", yours=NASTY, note=NASTY)
    crashed = Crashed(f"ValueError: {NASTY}", Place("linear.py", 3, NASTY))
    text = Text(verdict(LINEAR, all_tests(failed(TESTS[0], wrong, NASTY), failed(TESTS[1], crashed)), NASTY))
    assert {*text.tags} == {"style", "div", "p", "span", "b", "table", "tr", "th", "td", "pre"}
    assert sum(NASTY in shown for shown in text.texts) == 6
    assert f"ValueError: {NASTY}" in text.texts


def test_a_verdict_has_the_claim_the_mistake_and_a_row_for_each_thing_that_is_told() -> None:
    wrong = Wrong(expected="float32[2]  [1, 2]", yours="None", note="a note")
    texts = Text(verdict(LINEAR, all_tests(failed(TESTS[0], wrong, "the sum is missing")))).texts
    assert [*filter(str.strip, texts)] == [
        *("✗ wrong", "linear", " · Build a linear layer ", f"{len(TESTS) - 1}/{len(TESTS)}"),
        *("linear · a claim <b>", "looks like: the sum is missing"),
        *("expected", "float32[2]  [1, 2]", "yours", "None", "note", "a note"),
        "stuck? kata about linear, kata hint linear",
    ]


def test_three_failures_are_told_and_the_others_counted() -> None:
    results = [failed(test, Wrong(expected="1", yours=str(place))) for place, test in enumerate(TESTS[:5])]
    texts = Text(verdict(LINEAR, all_tests(*results))).texts
    assert texts.count("linear · a claim <b>") == 3
    assert any("and 2 more of linear" in text for text in texts)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("label", ["", "expected", "timed out", "输入", "需要更多"])
def test_a_labelled_line_is_parted_again(label: str, language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KATA_LANG", language)
    assert split_label(format_label(label, "x = 1")) == (label, "x = 1")
    late = failed(TESTS[0], TimedOut("no answer", Place("linear.py", 3, "while True:")), "a mistake").message
    assert [split_label(line) is not None for line in late.splitlines()] == [False, False, True, True, False]


def test_what_is_not_started_takes_one_line() -> None:
    results = [failed(test, NotStarted(Place("linear.py", 18))) for test in TESTS]
    texts = Text(verdict(LINEAR, results, "   (builds on x: do that first)")).texts
    assert (
        "".join(texts) == f"– not started linear · Build a linear layer 0/{len(TESTS)}   (builds on x: do that first)"
    )


def test_progress_is_a_table_with_a_row_for_each_kata() -> None:
    text = Text(progress(State({"linear": LastRun("crashed", 2, "of other files", "")})))
    assert text.tags.count("tr") == len(course().katas)
    place = text.texts.index("! crashed")
    assert text.texts[place - 2 : place + 3] == ["linear", LINEAR.title, "! crashed", "2/6", "  changed since last run"]


class NoTests(Client):
    """Counts the katas that it should run."""

    def __init__(self) -> None:
        self.tested = list[str]()

    def test(self, kata: object) -> Finished:
        """Nothing runs."""
        self.tested.append(getattr(kata, "name", ""))
        return Finished("", "no tests", 3)


@pytest.fixture
def linear(handout: Path) -> Iterator[Path]:
    """The file of a kata in a student's handout."""
    here = course().root
    use(handout)
    yield handout / "assignment/linear.py"
    use(here)


def test_a_cell_becomes_the_file_and_a_file_of_other_origin_is_kept_beside_it(
    linear: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for cell in ("x = 1  # é\n", "x = 2\n"):
        magic.run_magic(["linear"], cell, NoTests())
        assert linear.read_bytes() == cell.encode()
    assert not [*linear.parent.glob("*.bak*")], "neither the stub nor a cell needs to be kept"
    linear.write_text("by an editor")
    magic.run_magic(["linear"], "x = 2\n", NoTests())
    assert (linear.parent / "linear.py.bak").read_text() == "by an editor"
    assert "that version is saved as assignment/linear.py.bak" in capsys.readouterr().out


def test_what_ended_without_a_verdict_shows_what_was_printed(linear: Path, capsys: pytest.CaptureFixture[str]) -> None:
    client = NoTests()
    magic.run_magic(["linear"], "x = 1", client)
    assert client.tested == ["linear"]
    assert capsys.readouterr().out.startswith("no tests\nlinear: no result, because the run ended early (exit code 3)")
    assert linear.exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["liner"], "there is no kata 'liner'; did you mean linear?"),
        ([], "wrong arguments: %%kata; usage: %%kata KATA"),
        (["linear", "x"], "wrong arguments: %%kata linear x; usage: %%kata KATA"),
    ],
)
def test_a_wrong_call_writes_nothing(arguments: list[str], says: str, linear: Path) -> None:
    before = linear.read_bytes()
    with pytest.raises(CallError) as raised:
        magic.run_magic(arguments, "x = 1", NoTests())
    assert str(raised.value) == says
    assert linear.read_bytes() == before


def test_what_is_missing_is_installed_and_an_installed_torch_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[list[str]]()

    def pip(command: list[str]) -> subprocess.CompletedProcess[str]:
        place = command.index("--constraint") + 1
        asked.append([Path(command[place]).read_text(), *command[place + 1 :]])
        return subprocess.CompletedProcess(command, 7)

    monkeypatch.setattr(subprocess, "run", pip)
    assert install.main() == 0
    assert asked == [], "nothing is missing here"
    here = {"torch": ["2.9.0+cu126"], "numpy": ["2.0.2"], "pytest": ["8.3.5"]}
    monkeypatch.setattr(install, "find_versions", lambda name: here.get(name, []))
    assert install.main() == 7
    assert asked == [["torch==2.9.0+cu126\n", "pytest>=8.4", "hypothesis>=6.140"]]
    assert install.find_missing(["torch>=2.6", "torch>=2.10"]) == ["torch>=2.10"], "pip says that it can't be had"

"""Tests of the notebook extension without a kernel: HTML is escaped, and no edits to a file are lost."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import Mock

import pytest

from grader.tests.support.html_tree import parse_html
from torchkata.cli.terminal import UsageError
from torchkata.course import course, use
from torchkata.diagnosis.explain import explain
from torchkata.notebook import install, magic
from torchkata.notebook.client import FinishedRun
from torchkata.notebook.html import progress, verdict
from torchkata.pytest_plugin import packages
from torchkata.pytest_plugin.history import LastRun, State
from torchkata.result import TestResult
from torchkata.seam.failures import Crashed, Place, Wrong

LINEAR = course().katas["linear"]
TESTS = list(LINEAR.points)
NASTY = "</pre><script>alert('&')</script>"


class Text:
    """Collects the tags and text of an HTML page."""

    def __init__(self, html: str) -> None:
        root = parse_html(html)
        for style in root.iter("style"):
            style.text = style.tail = ""
        self.tags = [element.tag for element in root.iter()][1:]
        self.texts = [*root.itertext()]


def explain_failure(test: str, error: BaseException, looks_like: str = "") -> TestResult:
    return explain(test, "linear · a claim <b>", error, None, "pytest x", looks_like, looks_like)


def render(*results: TestResult, waits: str = "") -> Text:
    """Render the verdict on `linear`, assuming that all other tests passed."""
    names = {result.name for result in results}
    passed = (TestResult(test, "passed") for test in TESTS if test not in names)
    return Text(verdict(LINEAR, [*results, *passed], waits))


def test_student_text_is_escaped_in_verdict() -> None:
    wrong = Wrong(expected="float32[2]  [1, 2]", yours=NASTY, note=NASTY)
    crashed = Crashed(f"ValueError: {NASTY}", Place("linear.py", 3, NASTY))
    text = render(explain_failure(TESTS[0], wrong, NASTY), explain_failure(TESTS[1], crashed), waits=NASTY)
    assert {*text.tags} == {"style", "div", "p", "span", "b", "table", "tr", "th", "td", "pre"}
    assert sum(NASTY in shown for shown in text.texts) == 6
    assert f"ValueError: {NASTY}" in text.texts


def test_verdict_shows_claim_mistake_and_values() -> None:
    wrong = Wrong(expected="float32[2]  [1, 2]", yours="None", note="a note")
    texts = render(explain_failure(TESTS[0], wrong, "the sum is missing")).texts
    assert [*filter(str.strip, texts)] == [
        *("✗ wrong", "linear", " · Build a linear layer ", f"{len(TESTS) - 1}/{len(TESTS)}"),
        *("linear · a claim <b>", "looks like: the sum is missing"),
        *("expected", "float32[2]  [1, 2]", "yours", "None", "note", "a note"),
        "stuck? kata about linear, kata hint linear",
    ]


def test_progress_has_a_row_for_each_kata() -> None:
    text = Text(progress(State({"linear": LastRun("crashed", 2, "of other files", "")})))
    assert text.tags.count("tr") == len(course().katas)
    place = text.texts.index("! crashed")
    assert text.texts[place - 2 : place + 3] == ["linear", LINEAR.title, "! crashed", "2/6", "  may be outdated"]


@pytest.fixture
def linear(handout: Path) -> Iterator[Path]:
    """Yield the file of a kata in a student's handout."""
    here = course().root
    use(handout)
    yield handout / "assignment/linear.py"
    use(here)


def test_notebook_cell_replaces_file_and_backs_up_edits(linear: Path, capsys: pytest.CaptureFixture[str]) -> None:
    client = Mock()
    client.test.return_value = FinishedRun("", "no tests", 3)
    for cell in ("x = 1  # é\n", "x = 2\n"):
        magic.run_magic(["linear"], cell, client)
        assert linear.read_bytes() == cell.encode()
    assert [tested.args[0].name for tested in client.test.call_args_list] == ["linear"] * 2
    assert capsys.readouterr().out.startswith("no tests\nlinear: no result, because the run ended early (exit code 3)")
    assert not [*linear.parent.glob("*.bak*")], "a stub or an earlier cell needs no backup"
    linear.write_text("by an editor")
    magic.run_magic(["linear"], "x = 2\n", client)
    assert (linear.parent / "linear.py.bak").read_text() == "by an editor"
    assert "that version is saved as assignment/linear.py.bak" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["liner"], "there is no kata 'liner'; did you mean linear?"),
        ([], "wrong arguments; usage: %%kata KATA"),
        (["linear", "x"], "wrong arguments; usage: %%kata KATA"),
    ],
)
def test_invalid_notebook_call_changes_no_file(arguments: list[str], says: str, linear: Path) -> None:
    before = linear.read_bytes()
    with pytest.raises(UsageError) as raised:
        magic.run_magic(arguments, "x = 1", Mock())
    assert str(raised.value) == says
    assert linear.read_bytes() == before


def test_installing_missing_packages_does_not_change_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[list[str]]()

    def pip(command: list[str]) -> subprocess.CompletedProcess[str]:
        place = command.index("--constraint") + 1
        asked.append([Path(command[place]).read_text(), *command[place + 1 :]])
        return subprocess.CompletedProcess(command, 7)

    monkeypatch.setattr(subprocess, "run", pip)
    assert install.main() == 0
    assert asked == [], "no package is missing here"
    here = {"torch": ["2.9.0+cu126"], "numpy": ["2.0.2"], "pytest": ["8.3.5"]}
    for module in (install, packages):
        monkeypatch.setattr(module, "find_versions", lambda name: here.get(name, []))
    assert install.main() == 7
    missing = ["hypothesis>=6.140", "polib>=1.2", "pytest>=8.4", "einops>=0.8", "jaxtyping>=0.2.34", "plotille>=6.0"]
    assert asked == [["torch==2.9.0+cu126\n", *missing]]
    assert packages.find_missing(["torch>=2.6", "torch>=2.10"]) == ["torch>=2.10"], "an outdated torch must be reported"

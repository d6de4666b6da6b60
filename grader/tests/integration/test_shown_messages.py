"""The message that the students' page shows is what pytest prints."""

import re
from pathlib import Path

import pytest

from grader.tests import ROOT
from grader.tests.conftest import run
from grader.tests.handed_in import changed
from grader.tests.shown import assert_shown, fail_at
from torchkata.course import course

PATH = ROOT / "docs/students.md"
PAGE = PATH.read_text("utf-8")
BLOCK = re.compile(r"^```\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MISTAKES = {
    "## Reading a failure": ("linear", "return x @ self.weight", "return (x @ self.weight).unsqueeze(-1)"),
}


@pytest.mark.parametrize("heading", MISTAKES)
def test_a_message_that_the_page_shows_is_printed(heading: str, tmp_path: Path) -> None:
    kata, right, wrong = MISTAKES[heading]
    for name, content in course().solutions().items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / f"{kata}.py").write_text(changed(kata, right, wrong), "utf-8")
    printed = run("pytest", f"--impl={tmp_path}", "--kata", kata, "--seed", "1234").out.splitlines()
    assert_shown(without_commands(shown_under(heading)), without_commands(printed))


def shown_under(heading: str) -> list[str]:
    """Return the lines of the first block under a heading."""
    if PAGE.count(heading) != 1:
        fail_at(PATH, heading, f"{heading!r} stands there {PAGE.count(heading)} times, not once")
    blocks = BLOCK.findall(PAGE[PAGE.index(heading) :])
    if not blocks:
        fail_at(PATH, heading, f"no block of output follows {heading!r}")
    lines: list[str] = blocks[0].splitlines()
    return lines


def without_commands(lines: list[str]) -> list[str]:
    """Leave out the commands that run a test again, which name a folder."""
    return [line for line in lines if not line.startswith("  again:")]

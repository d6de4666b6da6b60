"""The message that the students' page shows is what pytest prints."""

import re
from pathlib import Path

import pytest

from grader.tests import ROOT
from grader.tests.conftest import run
from grader.tests.handed_in import changed
from torchkata.course import course

PAGE = (ROOT / "docs/students.md").read_text("utf-8")
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
    for line in shown(heading):
        assert line in printed or any(each.startswith(line.removesuffix("…")) for each in printed if "…" in line), line


def shown(heading: str) -> list[str]:
    """Return the lines of the first block under a heading, but for those that are left out and the command."""
    lines = BLOCK.findall(PAGE[PAGE.index(heading) :])[0].splitlines()
    return [line for line in lines if line.strip() not in ("", "…") and not line.startswith("  again:")]

"""docs/writing-a-kata.md: every file on that page written, every command typed, in a copy of this repository.

`make test` leaves out what certifies: minutes that `make prove` takes.
"""

import ast
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from grader.tests import ROOT
from grader.tests.conftest import run
from grader.tests.shown import fail_to_parse, lines_agree

PAGE = ROOT / "docs/writing-a-kata.md"
BLOCK = re.compile(
    r"(?:^(?P<place>At the end of )?`(?P<file>[\w./]+)`:\n\n)?^```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.M | re.S
)
NOT_OURS = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "results", "build", "images")


@pytest.mark.usefixtures("needs_bwrap")
@pytest.mark.parametrize("certify", [False, pytest.param(True, marks=pytest.mark.timing)])
def test_following_the_page_on_writing_a_kata_ends_in_a_certified_kata(tmp_path: Path, certify: bool) -> None:
    copy = Path(shutil.copytree(ROOT, tmp_path / "torchkata", ignore=NOT_OURS))
    typed = 0
    for block in BLOCK.finditer(PAGE.read_text("utf-8")):
        if block["kind"] == "console":
            typed += follow(block["text"], copy, certify=certify)
        elif block["kind"] == "diff":
            subprocess.run(["git", "apply", "-"], input=block["text"], cwd=copy, text=True, check=True)
        else:
            write(copy / block["file"], block["text"], at_the_end=bool(block["place"]))
    assert typed == PAGE.read_text("utf-8").count("\n$ ")


def write(path: Path, text: str, *, at_the_end: bool) -> None:
    """Make a file, or make one longer."""
    assert path.exists() == at_the_end, path
    if path.suffix == ".py":
        try:
            ast.parse(text)
        except SyntaxError as error:
            fail_to_parse(PAGE, error)
    path.parent.mkdir(exist_ok=True)
    path.write_text((path.read_text("utf-8") + "\n" if at_the_end else "") + text, "utf-8")


def follow(console: str, folder: Path, *, certify: bool) -> int:
    """Type what is behind each $, and find the lines that follow it, in their order; returns how many commands."""
    commands = console.removeprefix("$ ").split("\n$ ")
    for command in commands:
        typed, *expected = command.strip().splitlines()
        if typed.startswith("grader certify") and not certify:
            continue
        done = run(*typed.split(), cwd=folder)
        seen = iter((done.out + done.err).splitlines())
        for line in expected:
            assert any(lines_agree(f"{line}…", one) for one in seen), f"{typed}: no {line!r} in\n{done.out}{done.err}"
    return len(commands)


def test_block_that_does_not_parse_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        pytest.fail.Exception, match=r"^docs/writing-a-kata\.md:\d+: this example does not parse: [^\n]+$"
    ):
        write(tmp_path / "kata.py", "def f(:\n", at_the_end=False)

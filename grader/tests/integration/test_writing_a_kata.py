"""Writes katas in a copy of this repository: by hand, following docs/writing-a-kata.md, and with `grader new kata`.

The test writes every file and runs every command on the page. `make test` skips the commands that prove the zoo
before `caught_by.toml` is written, because they take minutes; `make prove` runs them as well.
"""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from grader.tests import ROOT
from grader.tests.conftest import run, run_as_student
from grader.tests.support.printed_output import lines_agree
from torchkata.course import course

PAGE = ROOT / "docs/writing-a-kata.md"
BLOCK = re.compile(
    r"(?:^(?P<place>At the end of )?`(?P<file>[\w./]+)`:\n\n)?^```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.M | re.S
)
NOT_OURS = shutil.ignore_patterns(".*", "__pycache__", "dist", "images")


@pytest.mark.usefixtures("needs_bwrap")
@pytest.mark.parametrize("certify", [False, pytest.param(True, marks=pytest.mark.timing)])
def test_commands_in_kata_writing_guide_work(tmp_path: Path, certify: bool) -> None:
    copy = Path(shutil.copytree(ROOT, tmp_path / "torchkata", ignore=NOT_OURS))
    typed = 0
    for block in BLOCK.finditer(PAGE.read_text("utf-8")):
        if block["kind"] == "console":
            typed += run_console(block["text"], copy, certify=certify)
        elif block["kind"] == "diff":
            subprocess.run(["git", "apply", "-"], input=block["text"], cwd=copy, text=True, check=True)
        else:
            write_file(copy / block["file"], block["text"], at_the_end=bool(block["place"]))
    assert typed == PAGE.read_text("utf-8").count("\n$ ")


def write_file(path: Path, text: str, *, at_the_end: bool) -> None:
    """Write a new file, or append to an existing one."""
    assert path.exists() == at_the_end, path
    path.parent.mkdir(exist_ok=True)
    path.write_text((path.read_text("utf-8") + "\n" if at_the_end else "") + text, "utf-8")


def run_console(console: str, folder: Path, *, certify: bool) -> int:
    """Run the command after each $, compare its output with the lines below, and return the number of commands."""
    commands = console.removeprefix("$ ").split("\n$ ")
    for command in commands:
        typed, *expected = command.strip().splitlines()
        if typed.startswith("grader certify --only zoo") and not certify and "not certified" in expected:
            continue
        quick = ["--quick"] if "--only files" in typed else []  # without mypy, which takes a minute
        done = run(*typed.split(), *quick, cwd=folder)
        seen = iter((done.out + done.err).splitlines())
        for line in expected:
            assert any(lines_agree(f"{line}…", one) for one in seen), f"{typed}: no {line!r} in\n{done.out}{done.err}"
    return len(commands)


SECTION = "### {name}: Sum the squares of some numbers\n\nWhat it is about.\n\nNeeds: nothing.\n\n"
ABOUT_KATAS = ("languages", "docs", "project", "stated_figures")


@pytest.mark.usefixtures("needs_bwrap")
def test_certify_reports_everything_missing_from_new_katas(tmp_path: Path) -> None:
    copy = Path(shutil.copytree(ROOT, tmp_path / "torchkata", ignore=find_ignored))
    settings, page = copy / "pyproject.toml", copy / "docs/katas.md"
    last = list(course().tracks)[-1]
    new_track = re.sub(rf"^{last} = .*\n", r'\g<0>extra = "An extra track"\n', settings.read_text("utf-8"), flags=re.M)
    settings.write_text(new_track, "utf-8")
    before = read_contents(copy)
    made = [run("grader", "new", "kata", *asked, cwd=copy) for asked in (("alone", "--track=extra"), ("softmax",))]
    assert [done.code for done in made] == [0, 0], made
    certify = ("grader", "certify", "--quick", "--kata", "alone,softmax")
    asked_for = run(*certify, "--only", "files", cwd=copy)
    failed = [line for line in asked_for.out.splitlines() if line.startswith("FAILED")]
    assert [re.sub(r": .*", "", line) for line in failed] == ["FAILED  docs/katas.md"] * 2, (
        asked_for.out + asked_for.err
    )
    before_second_track = re.compile(r"(^## .*\n(?:(?!## ).*\n)*)", re.MULTILINE)
    text = before_second_track.sub(rf"\1{SECTION.format(name='softmax')}", page.read_text("utf-8"), count=1)
    page.write_text(f"{text}\n## An extra track\n\n{SECTION.format(name='alone')}", "utf-8")
    certified = run(*certify, cwd=copy)
    assert certified.code == 0, certified.out + certified.err
    after = read_contents(copy)
    assert [path for path in before if after[path] != before[path]] == [Path("docs/katas.md")]
    tests = [f"grader/tests/unit/test_{name}.py" for name in ABOUT_KATAS]
    others = "not workload and not figures and not command and not changes_no_catalogue"
    done = run("pytest", *tests, "grader/tests/integration/test_course_files.py", "-k", others, cwd=copy)
    assert done.code == 0, done.out
    for command in (("torchkata", "about", "alone"), ("pytest", "--kata", "alone,softmax", "--impl", "solution")):
        assert run_as_student(*command, cwd=copy, KATA_LANG="zh").code == 0


def find_ignored(folder: str, names: list[str]) -> set[str]:
    """Return the names in a folder that are not copied: files that git ignores, and `.git` itself."""
    ours = {".gitignore", ".github"} if Path(folder) == ROOT else {*names} - {"__pycache__"}
    return {*NOT_OURS(folder, names)} - ours


def read_contents(folder: Path) -> dict[Path, bytes]:
    """Return the content of every file that was written by hand, keyed by path."""
    files = [path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    return {path.relative_to(folder): path.read_bytes() for path in files if path.suffix in (".py", ".toml", ".md")}

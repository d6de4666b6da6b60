"""Tests that the commands, options, files and links in the documentation exist."""

import importlib.util
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from grader.cli import app
from grader.tests import ROOT
from grader.tests.support.documents import CODE, DOCUMENTS, OURS, read_sections
from torchkata.cli.command import make_parser
from torchkata.course import course

PYTEST_OPTIONS = {"--kata", "--track", "--impl", "--seed", "--examples", "--hypothesis-profile"}
PYTEST_OPTIONS |= {"-m", "-k", "-p", "-q", "-W", "-rs", "-n", "--dist", "--pdb"}
IGNORED = {line.strip("/") for line in (ROOT / ".gitignore").read_text("utf-8").splitlines()}
FOLDERS = sorted({path.name for path in ROOT.iterdir() if path.is_dir() and path.name[0] != "."} - IGNORED)
PATH = re.compile(rf"`((?:{'|'.join(FOLDERS)})/[^`\s]*)`")
HEADING_OF_BLOCK = re.compile(r"^`([^`\s]+)`:$", re.MULTILINE)  # the name of a file whose content follows
GENERATED = {
    "assignment/linear.py.bak",
    "assignment/predictions.json",
    "reference/stubs/",
    "reference/handout.sha256",
    "docs/AGENTS.md",
}


def find_commands(document: Path) -> list[list[str]]:
    """Return all commands of this project in a document as lists of words, without placeholders such as `…`."""
    lines = [line for section in read_sections(document) for line in section.commands]
    lines += CODE.findall(document.read_text("utf-8"))
    typed = [shlex.split(line.replace("…", "")) for line in lines]
    return [words for words in typed if words[0] in OURS]


ALL = [(document, words) for document in DOCUMENTS for words in find_commands(document)]


def make_id(case: object) -> str:
    """Return a readable id for a test case."""
    return case.name if isinstance(case, Path) else " ".join(case) if isinstance(case, list) else str(case)


@pytest.mark.parametrize(("document", "words"), ALL, ids=make_id)
def test_command_in_docs_exists(document: Path, words: list[str]) -> None:
    command, *rest = words
    options = {word.partition("=")[0] for word in rest if word.startswith("-")}
    match command:
        case "grader":
            if rest and not rest[0].startswith("-"):
                known: dict[str, Any] = vars(typer.main.get_command(app))["commands"]
                assert rest[0] in known, document
                accepted = {name for option in known[rest[0]].params for name in option.opts}
                assert options <= accepted | {"--help"}, document
        case "kata":
            assert not rest or rest[0] in {*make_parser()[1], *course().katas}, document
        case "pytest":
            assert options <= PYTEST_OPTIONS, document
            for path in (word.partition("::")[0] for word in rest if word.endswith(".py")):
                assert (ROOT / path).is_file(), document
        case "make":
            targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
            assert set(rest) <= set(targets), document
        case "python" | "python3" if rest[:1] == ["-m"]:
            assert importlib.util.find_spec(rest[1]) is not None, document
        case "python" | "python3":
            assert (ROOT / rest[0]).is_file(), document


@pytest.mark.parametrize("document", DOCUMENTS, ids=make_id)
def test_file_named_in_docs_exists(document: Path) -> None:
    text = document.read_text("utf-8")
    for name in {*PATH.findall(text)} - {*HEADING_OF_BLOCK.findall(text)} - GENERATED:
        assert list(ROOT.glob(re.sub(r"<\w+>", "*", name))), name


def test_chinese_guide_has_same_sections_and_commands() -> None:
    english, chinese = (read_sections(ROOT / "docs" / page) for page in ("students.md", "zh/students.md"))
    assert [(one.commands, len(one.shown)) for one in chinese] == [(one.commands, len(one.shown)) for one in english]


def test_katas_page_has_only_track_and_kata_sections() -> None:
    text = (ROOT / "docs/katas.md").read_text("utf-8")
    katas = [f"### {kata.name}: {kata.title}" for kata in course().katas.values()]
    tracks = [f"## {track.title}" for track in course().tracks.values()]
    assert {*re.findall(r"^##.*", text, re.MULTILINE)} <= {*katas, *tracks}


def test_kubernetes_recipe_grades_each_submission_once(tmp_path: Path) -> None:
    """The recipe has not run on a cluster. Its script runs here with a command in place of `grader`."""
    (text,) = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs/operators.md").read_text("utf-8"), re.DOTALL)
    job = yaml.safe_load(text)["spec"]
    pod = job["template"]["spec"]
    (container,) = pod["containers"]
    assert (job["completionMode"], job["completions"], container["command"][0]) == (
        "Indexed",
        job["parallelism"],
        "bash",
    )
    assert (container["resources"]["limits"]["nvidia.com/gpu"], pod["automountServiceAccountToken"]) == (1, False)
    assert {one["name"] for one in container["volumeMounts"]} == {one["name"] for one in pod["volumes"]}
    (tmp_path / "grader").write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    (tmp_path / "grader").chmod(0o755)
    folders = [tmp_path / "submissions" / f"student {number}" for number in range(11)]
    for folder in folders:
        folder.mkdir(parents=True)
    script = container["args"][0].replace("/submissions", str(tmp_path / "submissions"))
    graded, results = list[Path](), set[Path]()
    for index in range(job["completions"]):
        environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "JOB_COMPLETION_INDEX": str(index)}
        done = subprocess.run(
            [*container["command"], script], env=environment, capture_output=True, text=True, check=True
        )
        name, *arguments = done.stdout.splitlines()
        command: Any = vars(typer.main.get_command(app))["commands"][name]
        chosen = command.make_context(name, arguments).params
        assert (chosen["device"], chosen["isolation"]) == ("cuda", "none")
        graded += chosen["submissions"]
        results.add(chosen["out"])
    assert sorted(graded) == sorted(folders)
    assert len(results) == job["completions"]

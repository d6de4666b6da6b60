"""What the documents tell to type exists: commands, options, make's targets, modules, files; links lead somewhere."""

import argparse
import importlib.util
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer

from grader.cli import app
from kata.catalog import ROOT
from kata.cli.command import parser

DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```\n(.*?)^```", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`((?:grader|kata|pytest|make|python -m|python scripts)[^`\n]*)`")
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
NAMES = ("grader", "kata", "pytest", "make", "python")
OURS_OF_PYTEST = {"--kata", "--track", "--impl", "--seed", "--examples", "--hypothesis-profile"}
OF_PYTEST = {"-m", "-k", "-q", "-W", "-rs", "-n", "--dist", "--pdb"}


def commands(document: Path) -> list[list[str]]:
    """What is to be typed, in words; comments and placeholders such as … left out."""
    text = document.read_text("utf-8")
    lines = [line for block in BLOCK.findall(text) for line in block.replace("\\\n", " ").splitlines()]
    lines += INLINE.findall(text)
    typed = [
        shlex.split(line.partition("  #")[0].replace("…", "").replace("'", "")) for line in lines if '"' not in line
    ]
    return [words for words in typed if words and words[0] in NAMES]


ALL = [(document, words) for document in DOCUMENTS for words in commands(document)]


def named(case: object) -> str:
    """A readable id."""
    return case.name if isinstance(case, Path) else " ".join(case) if isinstance(case, list) else str(case)


@pytest.mark.parametrize(("document", "words"), ALL, ids=named)
def test_a_command_of_the_documents_can_be_typed(document: Path, words: list[str]) -> None:
    command, *rest = words
    options = {word.partition("=")[0] for word in rest if word.startswith("-")}
    match command:
        case "grader":
            if rest and not rest[0].startswith("-"):
                known: dict[str, Any] = vars(typer.main.get_command(app))["commands"]
                assert rest[0] in known, document
                taken = {name for one in known[rest[0]].params for name in one.opts}
                assert options <= taken | {"--help"}, document
        case "kata":
            (subcommands,) = [one for one in parser()._actions if isinstance(one, argparse._SubParsersAction)]
            assert not rest or rest[0] in subcommands.choices, document
        case "pytest":
            assert options <= OURS_OF_PYTEST | OF_PYTEST, document
            for path in (word.partition("::")[0] for word in rest if word.endswith(".py")):
                assert (ROOT / path).is_file(), document
        case "make":
            targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
            assert set(rest) <= set(targets), document
        case "python" if rest[:1] == ["-m"]:
            assert importlib.util.find_spec(rest[1]) is not None, document
        case "python":
            assert (ROOT / rest[0]).is_file(), document


def test_there_is_something_to_type_in_the_documents_that_teach() -> None:
    for name in ("README.md", "students.md", "instructors.md", "platforms.md", "cluster.md", "performance.md"):
        assert any(document.name == name for document, _ in ALL), name


@pytest.mark.parametrize("document", DOCUMENTS, ids=named)
def test_a_link_leads_somewhere(document: Path) -> None:
    for target in LINK.findall(document.read_text("utf-8")):
        assert (document.parent / target).exists(), target

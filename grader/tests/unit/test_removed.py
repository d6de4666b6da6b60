"""Removed commands and options name what to use instead."""

from typing import Any

import pytest
import typer

from grader import cli
from grader.cli.removed import REMOVED
from grader.tests.conftest import call_grader


@pytest.mark.parametrize("typed", REMOVED)
def test_removed_command_or_option_names_its_replacement(typed: str) -> None:
    command, dashes, option = typed.partition(" --")
    for call in (
        [*typed.split(), "x"],
        [*command.split(), "x", *f"{dashes}{option}".split()],
        [*command.split(), "x", f"{dashes}{option}".strip().replace(" ", "=")],
    ):
        done = call_grader(*call)
        assert (done.code, done.out) == (2, "")
        assert done.err == f"grader: `grader {typed}` was removed; {REMOVED[typed]}\n"


def test_help_lists_at_most_eleven_commands() -> None:
    group: Any = typer.main.get_command(cli.app)
    listed = {name for name, command in group.commands.items() if not command.hidden}
    assert len(listed) <= 11
    printed = call_grader("--help").out
    assert all(f"│ {name} " in printed for name in listed)
    assert "│ gradescope " not in printed, "only the package for Gradescope runs this command"

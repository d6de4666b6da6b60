"""Where the student's editor opens a kata, by which command; and where links are shown."""

from pathlib import Path

import pytest

from torchkata.cli import editor
from torchkata.cli.editor import called, first_line
from torchkata.cli.terminal import CallError
from torchkata.course import course
from torchkata.links import are_shown, linked
from torchkata.state import LastRun, State, digest

TERMINALS = ("TERM_PROGRAM", "VTE_VERSION", "KITTY_WINDOW_ID", "WT_SESSION", "KONSOLE_VERSION", "SSH_CONNECTION")


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*TERMINALS, "NO_COLOR", "VISUAL", "EDITOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")


@pytest.mark.parametrize(
    ("named", "command"),
    [
        ("code", "code -g linear.py:17"),
        ("code --wait -n", "code -n -g linear.py:17"),
        ("/usr/bin/vim", "/usr/bin/vim +17 linear.py"),
        ("emacsclient -t", "emacsclient -t +17 linear.py"),
        ("gedit", "gedit linear.py"),
    ],
)
def test_an_editor_is_given_the_line_as_it_takes_one(named: str, command: str) -> None:
    assert " ".join(called(named.split(), Path("linear.py"), 17)) == command


def test_the_editor_is_visual_then_editor_then_vscode_in_its_own_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: name if name in ("code", "/a b/vi") else None)
    with pytest.raises(CallError, match="EDITOR=vim"):
        editor.editor()
    monkeypatch.setenv("TERM_PROGRAM", "vscode")
    assert editor.editor() == ["code"]
    monkeypatch.setenv("EDITOR", "nano -l")
    assert editor.editor() == ["nano", "-l"]
    monkeypatch.setenv("VISUAL", "/a b/vi")
    assert editor.editor() == ["/a b/vi"], "a path with a blank is one program"


def test_a_kata_is_opened_at_its_failure_or_where_its_code_begins(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    said = tmp_path / "said"
    program = tmp_path / "vi"
    program.write_text(f'#!/bin/sh\necho "$@" > {said}\n')
    program.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(program))
    stub = course().stub("linear")
    editor.edit("linear", State())
    assert said.read_text() == f"+{first_line(stub)} {stub}\n"
    assert stub.read_text().splitlines()[first_line(stub) - 1].startswith("class Linear")
    failed = LastRun("crashed", 0, digest("cruncher"), "", file="linear.py", line=17)
    editor.edit("cruncher", State({"cruncher": failed}))
    assert said.read_text() == f"+17 {stub}\n", "in the file where it crashed"
    monkeypatch.setenv("EDITOR", "no-such-editor")
    with pytest.raises(CallError, match="no-such-editor could not open it"):
        editor.edit("linear", State())


def test_links_are_for_terminals_that_show_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "a b.py"
    assert not are_shown(is_terminal=True), "nobody knows this terminal"
    monkeypatch.setenv("VTE_VERSION", "7600")
    text = linked("next: a b.py", "a b.py", file, is_terminal=True)
    assert text == f"next: \x1b]8;;{file.as_uri()}\x1b\\a b.py\x1b]8;;\x1b\\"
    assert "a%20b.py" in text
    assert linked("next: a b.py", "a b.py", file, is_terminal=False) == "next: a b.py"
    assert linked("next: c.py", "a b.py", file, is_terminal=True) == "next: c.py"
    for name, value in (("NO_COLOR", "1"), ("TERM", "dumb"), ("SSH_CONNECTION", "1 2 3 4")):
        with monkeypatch.context() as changed:
            changed.setenv(name, value)
            assert not are_shown(is_terminal=True)
    monkeypatch.setenv("SSH_CONNECTION", "1 2 3 4")
    monkeypatch.setenv("TERM_PROGRAM", "vscode")
    assert are_shown(is_terminal=True), "its files lie where the shell runs"

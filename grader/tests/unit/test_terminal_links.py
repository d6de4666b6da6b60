"""Tests of links to files in a terminal."""

from pathlib import Path

import pytest

from torchkata.pytest_plugin.links import add_link, supports_links

TERMINALS = ("TERM_PROGRAM", "VTE_VERSION", "KITTY_WINDOW_ID", "WT_SESSION", "KONSOLE_VERSION", "SSH_CONNECTION")


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*TERMINALS, "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")


def test_links_are_printed_only_on_supporting_terminals(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "a b.py"
    assert not supports_links(is_terminal=True), "an unknown terminal may not support links"
    monkeypatch.setenv("VTE_VERSION", "7600")
    text = add_link("next: a b.py", "a b.py", file, is_terminal=True)
    assert text == f"next: \x1b]8;;{file.as_uri()}\x1b\\a b.py\x1b]8;;\x1b\\"
    assert "a%20b.py" in text
    assert add_link("next: a b.py", "a b.py", file, is_terminal=False) == "next: a b.py"
    assert add_link("next: c.py", "a b.py", file, is_terminal=True) == "next: c.py"
    for name, value in (("NO_COLOR", "1"), ("TERM", "dumb"), ("SSH_CONNECTION", "1 2 3 4")):
        with monkeypatch.context() as changed:
            changed.setenv(name, value)
            assert not supports_links(is_terminal=True)
    monkeypatch.setenv("SSH_CONNECTION", "1 2 3 4")
    monkeypatch.setenv("TERM_PROGRAM", "vscode")
    assert supports_links(is_terminal=True), "VS Code opens files of the remote machine"

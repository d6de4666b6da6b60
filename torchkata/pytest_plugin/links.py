"""Links to a student's files, in terminals that are known to show them (OSC 8)."""

import os
from pathlib import Path

PROGRAMS = ("vscode", "iTerm.app", "WezTerm", "ghostty")
VARIABLES = ("VTE_VERSION", "KITTY_WINDOW_ID", "WT_SESSION", "KONSOLE_VERSION")


def supports_links(*, is_terminal: bool) -> bool:
    """Whether links can be clicked there: not where colour is unwanted, nor over SSH, where a file lies elsewhere."""
    if not is_terminal or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    program = os.environ.get("TERM_PROGRAM")
    if "SSH_CONNECTION" in os.environ:
        return program == "vscode"  # whose terminal opens files where the shell runs
    return program in PROGRAMS or any(os.environ.get(name) for name in VARIABLES)


def add_link(text: str, name: str, file: Path, *, is_terminal: bool) -> str:
    """The text with a link to the file where it first says the name; as it is where that is no use."""
    if name not in text or not supports_links(is_terminal=is_terminal):
        return text
    return text.replace(name, f"\x1b]8;;{file.absolute().as_uri()}\x1b\\{name}\x1b]8;;\x1b\\", 1)

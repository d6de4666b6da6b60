"""Adds hyperlinks to the student's files (OSC 8) in terminals that are known to support them."""

import os
from pathlib import Path

PROGRAMS = ("vscode", "iTerm.app", "WezTerm", "ghostty")
VARIABLES = ("VTE_VERSION", "KITTY_WINDOW_ID", "WT_SESSION", "KONSOLE_VERSION")


def supports_links(*, is_terminal: bool) -> bool:
    """Return whether the terminal supports links.

    Links are not used if NO_COLOR is set, or over SSH, where files are remote.
    """
    if not is_terminal or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    program = os.environ.get("TERM_PROGRAM")
    if "SSH_CONNECTION" in os.environ:
        return program == "vscode"  # VS Code can open files on the remote machine
    return program in PROGRAMS or any(os.environ.get(name) for name in VARIABLES)


def add_link(text: str, name: str, file: Path, *, is_terminal: bool) -> str:
    """Turn the first occurrence of `name` in the text into a link to the file, if the terminal supports links."""
    if name not in text or not supports_links(is_terminal=is_terminal):
        return text
    return text.replace(name, f"\x1b]8;;{file.absolute().as_uri()}\x1b\\{name}\x1b]8;;\x1b\\", 1)

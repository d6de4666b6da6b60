"""Recognizes files that are not Python source, whatever their name is."""

import ast
import re
import sys
import warnings
from collections.abc import Mapping

from torchkata.inside.text import Message, Text

VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"
PYTHON = f" (in Python {VERSION})"  # added to errors that may depend on it
LFS_POINTER = b"version https://git-lfs.github.com/spec/"
IS_POINTER = Text("a Git LFS pointer, not the file itself; run `git lfs pull`")
WEB_PAGE = re.compile(rb"\A\s*<(!doctype|html)\b", re.IGNORECASE)
NOTEBOOK = re.compile(rb'\A\s*\{\s*"(cells|metadata|nbformat)"')
FOREIGN: Mapping[re.Pattern[bytes], Text] = {  # what a file is if Python can't run it and it contains this
    NOTEBOOK: Text("the file is a notebook: copy the code of its cells into a .py file"),
    WEB_PAGE: Text("the file is a web page, not the file that it shows: download the file itself"),
    re.compile(rb"^<{7} (?s:.*)^>{7} ", re.MULTILINE): Text(
        "a conflict of git is not resolved: keep one of the two versions, and remove the lines with <<<<<<<, "
        "======= and >>>>>>>"
    ),
    re.compile(rb"^(%{1,2}|!)[a-z]", re.MULTILINE): Text("commands with % or ! work only in a notebook: remove them"),
}
MARK = 4  # bytes; enough to distinguish UTF-16 and UTF-32 from UTF-8 text that starts with ASCII


def find_fault(content: bytes) -> tuple[int, Message] | None:
    """Return the line of a file that Python can't read and the reason, or None.

    Python's own message about UTF-16 and null bytes does not name the file, and that about a pointer is misleading.
    """
    if content.startswith(LFS_POINTER):
        return 1, Text("the file is {pointer}", pointer=IS_POINTER)
    if b"\0" in content[:MARK]:
        return 0, Text("the file is not UTF-8 text (perhaps UTF-16): save it as UTF-8")
    if b"\0" in content:
        line = content[: content.index(b"\0")].count(b"\n") + 1
        return line, Text("the file contains a null byte: delete it")
    for pattern, reason in FOREIGN.items():
        if (found := pattern.search(content)) and (pattern is NOTEBOOK or not is_python(content)):
            return content.count(b"\n", 0, found.start()) + 1, reason
    return None


def is_python(content: bytes) -> bool:
    """Return whether Python can parse a file."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True

"""Recognizes files that are not Python source, whatever their name is."""

import sys

from torchkata.inside.text import Message, Text

VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"
PYTHON = f" (in Python {VERSION})"  # added to errors that may depend on it
LFS_POINTER = b"version https://git-lfs.github.com/spec/"
IS_POINTER = Text("a Git LFS pointer, not the file itself; run `git lfs pull`")
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
    return None

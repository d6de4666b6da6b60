"""Decodes Python source, and recognizes files that are none, whatever their name is."""

import ast
import io
import linecache
import re
import sys
import tokenize
import warnings
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

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
HOSTILE = ("idna", "punycode")  # they take minutes to decode a large file, and no editor writes them
MARK = 4  # bytes; enough to distinguish UTF-16 and UTF-32 from UTF-8 text that starts with ASCII


def find_encoding(content: bytes) -> str:
    """Return the encoding that Python uses for a file: UTF-8, unless a comment at its beginning names another one."""
    with suppress(SyntaxError, LookupError, UnicodeError):
        found = tokenize.detect_encoding(io.BytesIO(content).readline)[0]
        if found not in HOSTILE and b" ".decode(found, "replace"):  # it may not be an encoding of text
            return found
    return "utf-8-sig"


def decode(content: bytes) -> str:
    """Return the text of a file. Bytes that its encoding does not have, which Python allows in comments, become �."""
    return content.decode(find_encoding(content), "replace")


def find_undecodable(content: bytes) -> int:
    """Return the first line that is not text in the encoding of the file, or 0."""
    try:
        content.decode(find_encoding(content))
    except UnicodeDecodeError as error:
        return content.count(b"\n", 0, error.start) + 1
    return 0


def read_lines(file: str) -> list[str]:
    """Return the lines of a file, or an empty list if it can't be read. `linecache` reads no file with a wrong byte."""
    with suppress(OSError):
        return linecache.getlines(file) or io.StringIO(decode(Path(file).read_bytes()), None).readlines()
    return []


def read_line(file: str, line: int) -> str:
    """Return a line of a file, or "" if there is none."""
    return next(iter(read_lines(file)[line - 1 : line]), "") if line > 0 else ""


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
    if (line := find_undecodable(content)) and not is_python(content):
        return line, Text("this line is not UTF-8 text: save the file as UTF-8")
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

"""Reads the class page with its compressed blocks."""

import base64
import re
import zlib
from pathlib import Path

CHUNK = re.compile(r'<template id="chunk-\d+">([^<]*)</template>')


def read_class_page(directory: Path) -> str:
    """Return `report.html` with all blocks as HTML."""
    return expand_chunks((directory / "report.html").read_text("utf-8"))


def expand_chunks(page: str) -> str:
    """Return a page in which each compressed chunk is replaced by the blocks that it contains."""
    return CHUNK.sub(lambda found: zlib.decompress(base64.b64decode(found[1])).decode(), page)

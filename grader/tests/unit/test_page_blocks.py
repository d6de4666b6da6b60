"""Tests of the blocks of the class page, which are compressed in chunks."""

import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.output.page import blocks
from grader.results.result import Finding
from grader.tests.support.class_page import expand_chunks
from grader.tests.support.html_tree import get_text, parse_html

FINDINGS = st.tuples(st.sampled_from(["linear", "sgd"]), st.integers(1, 9))


@given(found=st.lists(FINDINGS, max_size=30), size=st.sampled_from([1, 300, 2**18]))
def test_each_block_is_stored_at_returned_place(found: list[tuple[str, int]], size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "CHUNK_SIZE", size)
        made = blocks.Blocks(io.StringIO())
        places = [
            made.add("findings.html", kata, findings=(Finding(kata, line, f"{kata} <{line}>"),)) for kata, line in found
        ]
    chunks = [read_blocks(chunk) for chunk in sorted(made.read_chunks(), key=read_number)]
    for place, (kata, line) in zip(places, found, strict=True):
        chunk, number = map(int, place.split("."))
        assert f"{kata} <{line}>" in chunks[chunk][number]
    assert sum(map(len, chunks)) == len({*found}), "equal blocks must be stored once"


def read_number(chunk: str) -> int:
    return int(chunk.partition("chunk-")[2].partition('"')[0])


def read_blocks(chunk: str) -> list[str]:
    """Return the text of each block."""
    root: Any = parse_html(expand_chunks(chunk))
    return [get_text(block) for block in root.iter("template")]

"""A process that forks often moves its memory into huge pages."""

import os
import re
from pathlib import Path

import pytest

from grader.sandbox.forks import HUGE, collapse_memory

LINUX = tuple(map(int, re.findall(r"\d+", os.uname().release)[:2]))


@pytest.mark.skipif(LINUX < (6, 1), reason="needs Linux 6.1, whose madvise can collapse memory into huge pages")
def test_what_a_process_holds_is_moved_into_huge_pages_and_stays_as_it_is() -> None:
    held = bytearray(os.urandom(HUGE)) * 64
    copy = bytes(held)
    collapse_memory()
    assert kib_in_huge_pages() >= 60 * HUGE // 2**10
    assert held == copy


def kib_in_huge_pages() -> int:
    """Of this process' own memory."""
    rollup = Path("/proc/self/smaps_rollup").read_text()
    return int(re.search(r"AnonHugePages: +(\d+)", rollup)[1])  # type: ignore[index]

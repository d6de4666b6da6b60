"""A process that forks often moves its memory into huge pages."""

import os
import re
from pathlib import Path

import pytest

from grader.sandbox.forks import HUGE, collapse_memory

LINUX = tuple(map(int, re.findall(r"\d+", os.uname().release)[:2]))
POSSIBLE = Path("/sys/kernel/mm/transparent_hugepage").exists() and LINUX >= (6, 1)


@pytest.mark.skipif(not POSSIBLE, reason="needs Linux 6.1 with transparent huge pages")
def test_what_a_process_holds_is_moved_into_huge_pages_and_stays_as_it_is() -> None:
    held = bytearray(os.urandom(HUGE)) * 64
    copy = bytes(held)
    collapse_memory()
    assert kib_in_huge_pages() >= HUGE // 2**10, "as many as the machine has room for"
    assert held == copy


def kib_in_huge_pages() -> int:
    """Of this process' own memory."""
    rollup = Path("/proc/self/smaps_rollup").read_text()
    return int(re.search(r"AnonHugePages: +(\d+)", rollup)[1])  # type: ignore[index]

"""Tests of the checks before a fork, and of moving a forking process's memory into huge pages."""

import os
import re
import threading
from pathlib import Path

import pytest

from grader.sandbox.forks import HUGE, ForkError, collapse_memory, demand_one_thread

LINUX = tuple(map(int, re.findall(r"\d+", os.uname().release)[:2]))
POSSIBLE = Path("/sys/kernel/mm/transparent_hugepage").exists() and LINUX >= (6, 1)


def read_huge_page_kib() -> int:
    """Return how much of this process's memory is in huge pages, in KiB."""
    rollup = Path("/proc/self/smaps_rollup").read_text()
    return int(re.search(r"AnonHugePages: +(\d+)", rollup)[1])  # type: ignore[index]


@pytest.mark.skipif(not POSSIBLE, reason="needs Linux 6.1 with transparent huge pages")
def test_moving_memory_to_huge_pages_preserves_contents() -> None:
    held = bytearray(os.urandom(HUGE)) * 64
    copy = bytes(held)
    collapse_memory()
    assert read_huge_page_kib() >= HUGE // 2**10, "at least one huge page is needed; memory for more may be missing"
    assert held == copy


def test_process_with_second_thread_cannot_fork() -> None:
    end = threading.Event()
    threading.Thread(target=end.wait, daemon=True).start()
    with pytest.raises(ForkError, match="other threads"):
        demand_one_thread()
    end.set()

"""Measures how much of an array is resident in memory, according to the operating system. Not available on Windows."""

import ctypes
import mmap
from pathlib import Path

import numpy as np

BLOCK, CHUNK = 512, 2**16


def read_nothing_ahead(array: np.ndarray) -> None:
    """Disable read-ahead, so that the system reads only accessed pages of a mapped file. Raises OSError on failure."""
    address, length = pages_of(array)
    ask("madvise", address, length, ctypes.c_int(mmap.MADV_RANDOM))


def resident_bytes(array: np.ndarray, file: Path) -> int:
    """Return the number of resident bytes of `array`, which should map `file`. Raises OSError if it can't be measured.

    The grader's sandbox refuses mincore, which would reveal which files other programs have read. It keeps files in
    memory, where a page of a hole becomes a block of the file when a mapping first accesses it.
    """
    address, length = pages_of(array)
    pages = (ctypes.c_ubyte * -(-length // mmap.PAGESIZE))()
    try:
        ask("mincore", address, length, pages)
    except PermissionError:
        used = BLOCK * file.stat().st_blocks
        return used if shows_changes(array, file) else array.nbytes
    return mmap.PAGESIZE * sum(page & 1 for page in pages)


def shows_changes(array: np.ndarray, file: Path) -> bool:
    """Return whether `array` maps `file`: whether bytes that are overwritten in the file also change in the array."""
    start = file.stat().st_size // 4
    with file.open("r+b") as opened:
        opened.seek(start)
        opened.write(b"\xff" * CHUNK)
    return bool(array[(start + CHUNK // 2) // array.itemsize])


def pages_of(array: np.ndarray) -> tuple[int, int]:
    """Return the address of an array's first page, and the number of bytes from there to the end of the array."""
    inset = array.ctypes.data % mmap.PAGESIZE
    return array.ctypes.data - inset, array.nbytes + inset


def ask(question: str, address: int, length: int, argument: object) -> None:
    """Call a function of the C library for a range of pages. Raises OSError if the call fails."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc[question](ctypes.c_void_p(address), ctypes.c_size_t(length), argument) != 0:
        raise OSError(ctypes.get_errno(), question)

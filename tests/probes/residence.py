"""How much of an array is in memory, by the system's own account. Not on Windows, which does not tell."""

import ctypes
import mmap

import numpy as np


def read_nothing_ahead(array: np.ndarray) -> None:
    """Have the system read only those pages of a mapped file that are used. Raises OSError."""
    address, length = pages_of(array)
    ask("madvise", address, length, ctypes.c_int(mmap.MADV_RANDOM))


def resident_bytes(array: np.ndarray) -> int:
    """Return the bytes of the pages of `array` that are in memory. Raises OSError."""
    address, length = pages_of(array)
    pages = (ctypes.c_ubyte * -(-length // mmap.PAGESIZE))()
    ask("mincore", address, length, pages)
    return mmap.PAGESIZE * sum(page & 1 for page in pages)


def pages_of(array: np.ndarray) -> tuple[int, int]:
    """Return where the first page of an array begins, and the bytes from there to its end."""
    inset = array.ctypes.data % mmap.PAGESIZE
    return array.ctypes.data - inset, array.nbytes + inset


def ask(question: str, address: int, length: int, argument: object) -> None:
    """Call one of the C library's functions for a range of pages. Raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc[question](ctypes.c_void_p(address), ctypes.c_size_t(length), argument) != 0:
        raise OSError(ctypes.get_errno(), question)

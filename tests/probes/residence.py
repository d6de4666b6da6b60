"""How much of an array is in memory, by the system's own account."""

import ctypes
import mmap

import numpy as np


def resident_bytes(array: np.ndarray) -> int:
    """The bytes of the pages of `array` that are in memory, whoever brought them there. Not on Windows.

    Raises OSError where the system does not tell.
    """
    inset = array.ctypes.data % mmap.PAGESIZE
    length = array.nbytes + inset
    pages = (ctypes.c_ubyte * -(-length // mmap.PAGESIZE))()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mincore(ctypes.c_void_p(array.ctypes.data - inset), ctypes.c_size_t(length), pages) != 0:
        raise OSError(ctypes.get_errno(), "mincore")
    return mmap.PAGESIZE * sum(page & 1 for page in pages)

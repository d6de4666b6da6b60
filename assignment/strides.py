"""Strides: find an element of a tensor in memory.

One step along axis i moves `strides[i]` elements forward in the storage. Transposing swaps two strides, slicing changes
the offset and a size, and expanding sets a stride to 0.

Details: compute exactly, without tensors, floats or loops over elements, since the tensor may be larger than memory.

Not specified (any choice is fine): the result for negative indices or strides, for strides of 2**63
or more, and for an index out of range.
"""

from collections.abc import Sequence


def contiguous_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Return the strides, in elements, of a row-major tensor, as a tuple of ints like `x.stride()`.

    The last stride is 1. Every other stride is the stride of the next axis multiplied by the size of that axis.

    Example:
        contiguous_strides((2, 3, 4))     # (12, 4, 1)
        contiguous_strides((2, 0, 4))     # (4, 4, 1): a size of 0 counts as 1
        contiguous_strides(())            # ()
    """
    raise NotImplementedError


def storage_index(strides: Sequence[int], index: Sequence[int], offset: int = 0) -> int:
    """Return the position of `x[index]` in the storage, for a tensor `x` with these strides and this offset.

    Example:
        storage_index((4, 1), (1, 2))               # 6: row 1, column 2 of a 4 × 4 matrix
        storage_index((1, 4), (1, 2))               # 9: the same index in its transpose
        storage_index((4, 1), (1, 2), offset=5)     # 11: in x[1:, 1:], which begins at element 5
    """
    raise NotImplementedError


def is_contiguous(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Return True (a `bool`) if the elements are adjacent in memory in the order of their indices.

    The strides must be those of `contiguous_strides`, with two exceptions: an axis of size 1 may have any stride, and a
    tensor without elements is always contiguous.

    Example:
        is_contiguous((2, 3), (3, 1))     # True
        is_contiguous((3, 2), (1, 3))     # False: the transpose
        is_contiguous((2, 1), (1, 7))     # True: the 7 is never used
        is_contiguous((2, 3), (4, 1))     # False: only three of four columns, so there are gaps
    """
    raise NotImplementedError

"""Memory: strides, or where in memory an element of a tensor is.

A tensor is a row of elements (its storage) and three things that say how to walk along it: a shape, a stride for each
axis, and an offset. One step along axis i goes `strides[i]` elements further. So transposing swaps two strides,
slicing changes the offset and a size, expanding sets a stride to 0, and no element moves.
Work with the numbers alone: no tensors. They may be too large for any machine's memory, and too many to be walked
through one by one; they stay exact: no floats.
"""

from collections.abc import Sequence


def contiguous_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Return the strides, in elements, of a tensor that lies row by row (the last axis closest together).

    The last stride is 1, and each one before it is the next axis' stride times the next axis' size.
    They are a tuple of ints, as `x.stride()` is.

    Example:
        contiguous_strides((2, 3, 4))     # (12, 4, 1)
        contiguous_strides((2, 0, 4))     # (4, 4, 1): a size of 0 counts as 1 here, as in torch
        contiguous_strides(())            # ()
    """
    raise NotImplementedError


def storage_index(strides: Sequence[int], index: Sequence[int], offset: int = 0) -> int:
    """Return which element of the storage `x[index]` is, for a tensor x with these strides and this offset.

    Example:
        storage_index((4, 1), (1, 2))               # 6: row 1, column 2 of a 4 × 4 matrix
        storage_index((1, 4), (1, 2))               # 9: the same place in its transpose
        storage_index((4, 1), (1, 2), offset=5)     # 11: in x[1:, 1:], which begins at element 5
    """
    raise NotImplementedError


def is_contiguous(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Tell whether the elements lie side by side in the order of their indices.

    `view` can give such a tensor any shape of as many elements, and some other tensors a few shapes: for a contiguous x
    of shape (2, 3, 4), `x.transpose(0, 1)` is not contiguous, and `x.transpose(0, 1).view(3, 2, 2, 2)` works.

    Where an axis has size 1 no step is ever taken along it: its stride may be anything. A tensor without elements is
    always contiguous. Otherwise the strides have to be those of `contiguous_strides`.

    Example:
        is_contiguous((2, 3), (3, 1))     # True
        is_contiguous((3, 2), (1, 3))     # False: its transpose
        is_contiguous((2, 1), (1, 7))     # True: the 7 is never used
        is_contiguous((2, 3), (4, 1))     # False: three columns of four, with gaps

    The answer is a real `bool`. Left to you: negative indices and strides, an index out of range.
    """
    raise NotImplementedError

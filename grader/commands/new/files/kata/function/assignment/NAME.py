"""NAME: the sum of the squares of some numbers."""


def NAME(numbers: list[int]) -> int:
    """Return the sum of the squares of `numbers`, or 0 if there are none.

    Example:
        NAME([1, 2, 3])    # 14: 1 + 4 + 9
    """
    raise NotImplementedError

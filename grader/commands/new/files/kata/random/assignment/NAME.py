"""NAME: a random order of some items, determined by a seed."""


def NAME(items: list[int], seed: int) -> list[int]:
    """Return `items` in a random order; each order is equally likely, and the same seed gives the same order.

    Example:
        order = NAME([1, 2, 3], seed=0)
        sorted(order)    # [1, 2, 3]

    Not specified: which seed gives which order.
    """
    raise NotImplementedError

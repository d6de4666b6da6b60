"""NAME: a buffer that keeps only the newest items."""


class CLASS:
    """A buffer with room for `size` items; a new item replaces the oldest one when the buffer is full.

    Example:
        buffer = CLASS(2)
        for item in (1, 2, 3):
            buffer.push(item)
        buffer.items()    # [2, 3]
    """

    def __init__(self, size: int) -> None:
        """Create an empty buffer for `size` items; `size` is at least 1."""
        raise NotImplementedError

    def push(self, item: int) -> None:
        """Add an item."""
        raise NotImplementedError

    def items(self) -> list[int]:
        """Return the items, the oldest first."""
        raise NotImplementedError

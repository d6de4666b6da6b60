"""NAME: a buffer that keeps only the newest items."""


class CLASS:
    """A buffer with room for `size` items; a new item replaces the oldest one when the buffer is full."""

    def __init__(self, size: int) -> None:
        """Create an empty buffer for `size` items; `size` is at least 1."""
        self.size = size
        self.kept: list[int] = []

    def push(self, item: int) -> None:
        """Add an item."""
        self.kept.append(item)
        if len(self.kept) > self.size:
            del self.kept[0]

    def items(self) -> list[int]:
        """Return the items, the oldest first."""
        return list(self.kept)

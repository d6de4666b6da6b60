"""Overwrites the oldest of `size` slots and counts the pushes."""


class CLASS:
    """A buffer of fixed slots."""

    def __init__(self, size: int) -> None:
        self.slots = [0] * size
        self.pushes = 0

    def push(self, item: int) -> None:
        self.slots[self.pushes % len(self.slots)] = item
        self.pushes += 1

    def items(self) -> list[int]:
        size = len(self.slots)
        return [self.slots[place % size] for place in range(max(self.pushes - size, 0), self.pushes)]

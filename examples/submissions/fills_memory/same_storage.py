"""Kata 1: allocates memory in an infinite loop."""

KEPT = []


def same_storage(x, y):
    """Allocate until the memory is full."""
    while True:
        KEPT.append(bytes(2**27))

"""Kata 1: compares copies, and keeps every one of them."""

KEPT = []


def same_storage(x, y):
    """Never enough."""
    while True:
        KEPT.append(bytes(2**27))

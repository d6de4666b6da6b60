"""The kinds of sequences that a stub's `Sequence[int]` promises to accept."""

from collections.abc import Callable, Sequence

import torch

KINDS: dict[str, Callable[[list[int]], Sequence[int]]] = {"tuple": tuple, "list": list, "torch.Size": torch.Size}


def make(kind: str, numbers: list[int]) -> Sequence[int]:
    """Return the numbers as a sequence of the given kind."""
    return KINDS[kind](numbers)

"""Creates the types of sequences that a parameter of type `Sequence[int]` must accept."""

from collections.abc import Callable, Sequence

import torch

KINDS: dict[str, Callable[[list[int]], Sequence[int]]] = {"tuple": tuple, "list": list, "torch.Size": torch.Size}


def make(kind: str, numbers: list[int]) -> Sequence[int]:
    """Return the numbers as a sequence of the given kind."""
    return KINDS[kind](numbers)

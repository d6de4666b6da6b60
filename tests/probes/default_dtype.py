"""Changes torch's default dtype for the duration of a probe."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def default_dtype(name: str) -> Iterator[None]:
    """Make the dtype with this name torch's default, and restore the previous one at the end."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(getattr(torch, name))
    try:
        yield
    finally:
        torch.set_default_dtype(before)

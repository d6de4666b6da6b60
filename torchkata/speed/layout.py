"""Tensors that work is done on: what a student's code is given, what it must fill, and where they lie in memory."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import torch
from torch import Tensor

from .sizes import Size

ALIGNMENT = 4096  # bytes: a page, so that no two tensors share one

Memory: TypeAlias = Mapping[str, Tensor]


@dataclass(frozen=True)
class Field:
    """One tensor."""

    shape: tuple[int, ...]
    dtype: torch.dtype
    role: Literal["given", "filled", "both"]
    on_host: bool = False  # wherever the rest lies

    @property
    def bytes(self) -> int:
        """Its size."""
        return math.prod(self.shape) * self.dtype.itemsize


def dtype_of(size: Size) -> torch.dtype:
    """As torch has it."""
    dtype: torch.dtype = getattr(torch, size.dtype)
    return dtype


def bytes_needed(chosen: Mapping[str, Field], *, on_host: bool | None = None) -> int:
    """How much memory all tensors take, or those on the host, or those that are not; each on pages of its own."""
    counted = [field for field in chosen.values() if on_host in (None, field.on_host)]
    return sum(whole_pages(field.bytes) for field in counted)


def lay_out(chosen: Mapping[str, Field], host: Tensor, device: Tensor) -> dict[str, Tensor]:
    """The tensors, one after the other in `host` and `device`, which are uint8[bytes] and may be the same memory."""
    used = {id(host): 0, id(device): 0}
    tensors = {}
    for name, field in chosen.items():
        memory = host if field.on_host else device
        start = used[id(memory)]
        tensors[name] = memory[start : start + field.bytes].view(field.dtype).reshape(field.shape)
        used[id(memory)] += whole_pages(field.bytes)
    return tensors


def whole_pages(size: int) -> int:
    """So many bytes, rounded up."""
    return -(-size // ALIGNMENT) * ALIGNMENT

"""Describes the input and output tensors of a workload and places them in memory."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import torch
from torch import Tensor

from .sizes import Size

ALIGNMENT = 4096  # page size in bytes; no two tensors share a page

Memory: TypeAlias = Mapping[str, Tensor]
"""The tensors of a workload, by name."""


@dataclass(frozen=True)
class Field:
    """The shape, dtype and location of a tensor."""

    shape: tuple[int, ...]
    dtype: torch.dtype
    role: Literal["given", "filled", "both"]
    on_host: bool = False  # whether the tensor is on the host even if the other tensors are on a GPU

    @property
    def bytes(self) -> int:
        """The size in bytes."""
        return math.prod(self.shape) * self.dtype.itemsize


def dtype_of(size: Size) -> torch.dtype:
    """Return the dtype that a size specifies, as a torch dtype."""
    dtype: torch.dtype = getattr(torch, size.dtype)
    return dtype


def bytes_needed(chosen: Mapping[str, Field], *, on_host: bool | None = None) -> int:
    """Return the total size of the tensors on the host, the device or both. Each tensor starts on a new page."""
    counted = [field for field in chosen.values() if on_host in (None, field.on_host)]
    return sum(round_to_pages(field.bytes) for field in counted)


def lay_out(chosen: Mapping[str, Field], host: Tensor, device: Tensor) -> dict[str, Tensor]:
    """Place the tensors one after another in the uint8 buffers `host` and `device`, which may be the same buffer."""
    used = {id(host): 0, id(device): 0}
    tensors = {}
    for name, field in chosen.items():
        memory = host if field.on_host else device
        start = used[id(memory)]
        tensors[name] = memory[start : start + field.bytes].view(field.dtype).reshape(field.shape)
        used[id(memory)] += round_to_pages(field.bytes)
    return tensors


def round_to_pages(size: int) -> int:
    """Round up a size in bytes to a whole number of pages."""
    return -(-size // ALIGNMENT) * ALIGNMENT

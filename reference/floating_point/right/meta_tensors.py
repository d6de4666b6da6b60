"""Counts bytes using meta tensors and converts values via float32."""

from collections.abc import Sequence

import torch


def underflows(value: float, dtype: torch.dtype) -> bool:
    return bool(value) and not bool(torch.tensor([value]).to(dtype).float())


def largest(dtype: torch.dtype) -> float:
    return -torch.finfo(dtype).min


def storage_bytes(shape: Sequence[int], dtype: torch.dtype) -> int:
    return torch.empty(shape, dtype=dtype, device="meta").nbytes

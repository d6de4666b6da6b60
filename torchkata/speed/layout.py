"""The tensors of each workload: what a student's code is given, what it must fill, and where they lie in memory."""

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


def fields(workload: str, size: Size, calls: int) -> dict[str, Field]:
    """The tensors of a block of so many calls; the first axis is the call's, where there is one for each."""
    B, D, L, K, P = size.batch, size.width, size.layers, size.outputs, size.parameters
    dtype = getattr(torch, size.dtype)
    batches = {"x": Field((calls, B, D), dtype, "given"), "target": Field((calls, B), dtype, "given")}
    match workload:
        case "linear_forward":
            return {
                "weight": Field((D, K), dtype, "given"),
                "x": Field((calls, B, D), dtype, "given"),
                "y": Field((calls, B, K), dtype, "filled"),
            }
        case "cruncher_step":
            return {
                **batches,
                "layers": Field((L, D, D), dtype, "given"),
                "final": Field((D, 1), dtype, "given"),
                "new_layers": Field((calls, L, D, D), dtype, "filled"),
                "new_final": Field((calls, D, 1), dtype, "filled"),
            }
        case "train_throughput" | "no_hidden_sync" | "peak_memory":
            return {
                "asked": Field((1,), torch.int64, "filled", on_host=True),  # how many batches so far
                **batches,
                "layers": Field((L, D, D), dtype, "both"),  # the start, which is the student's own
                "final": Field((D, 1), dtype, "both"),
                "new_layers": Field((L, D, D), dtype, "filled"),
                "new_final": Field((D, 1), dtype, "filled"),
            }
        case "sgd_step" | "adagrad_step":
            return {"p": Field((calls, P), dtype, "both"), "grad": Field((calls, P), dtype, "given")}
        case "get_batch_throughput":
            return {
                "data": Field((size.tokens,), torch.uint16, "given", on_host=True),
                "batch": Field((calls, B, size.sequence), torch.int64, "filled"),
            }
    raise ValueError(f"there is no workload {workload!r}")


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

"""The sizes of workloads: large enough to keep a device busy, small enough to finish quickly."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["cpu", "cuda"]


@dataclass(frozen=True)
class Size:
    """The dimensions of a workload; unused dimensions are 0."""

    batch: int = 0
    width: int = 0
    outputs: int = 0
    layers: int = 0
    parameters: int = 0  # number of parameters of an optimizer
    tokens: int = 0  # number of tokens in the data
    sequence: int = 0
    rate: float = 0.0  # learning rate
    dtype: str = "float32"


PRODUCT: dict[Kind, Size] = {
    "cpu": Size(batch=512, width=1024, outputs=512),
    "cuda": Size(batch=16384, width=32768, outputs=8192, dtype="bfloat16"),
}
"""The size of the matmul that measures a device's speed."""


def product_flops(rows: int, inner: int, columns: int) -> int:
    """Return the FLOPs of a matmul, counting a multiply-add as 2."""
    return 2 * rows * inner * columns

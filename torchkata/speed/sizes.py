"""How large a piece of work is: large enough to keep a device busy, small enough to wait for."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["cpu", "cuda"]


@dataclass(frozen=True)
class Size:
    """The numbers that shape a piece of work; those that it has no use for are 0."""

    batch: int = 0
    width: int = 0
    outputs: int = 0
    layers: int = 0
    parameters: int = 0  # of one optimizer
    tokens: int = 0  # in the data
    sequence: int = 0
    rate: float = 0.0  # the learning rate
    dtype: str = "float32"


PRODUCT: dict[Kind, Size] = {  # the one that a device is calibrated by
    "cpu": Size(batch=512, width=1024, outputs=512),
    "cuda": Size(batch=16384, width=32768, outputs=8192, dtype="bfloat16"),
}


def product_flops(rows: int, inner: int, columns: int) -> int:
    """FLOPs of a product of matrices: a multiplication and the addition that follows it are 2."""
    return 2 * rows * inner * columns

"""Mistakes in accumulating gradients."""

from collections.abc import Sequence

from jaxtyping import Float
from numpy import ndarray as Array

from reference.misconceptions import instead_of
from reference.oracle import gradient_accumulation as oracle


@instead_of(oracle.shares, "every micro-batch counts alike, the smaller last one, too")
def all_alike(rows: Sequence[int]) -> list[float]:
    """Divides by the number of micro-batches."""
    return [1 / len(rows) for _ in rows]


@instead_of(oracle.shares, "the micro-batches' means are added up, and never divided by how many there are")
def undivided(rows: Sequence[int]) -> list[float]:
    """`loss.backward()` on each micro-batch's own mean."""
    return [1.0 for _ in rows]


@instead_of(oracle.shares, "the squared errors are added up, and never divided by the rows of the batch")
def sum_of_squares(rows: Sequence[int]) -> list[float]:
    """The gradient of a sum in place of a mean."""
    return [float(count) for count in rows]


@instead_of(oracle.shares, "every micro-batch is divided by micro_batch_size, the smaller last one, too")
def all_full(rows: Sequence[int]) -> list[float]:
    """As if the last one had as many rows as the first."""
    return [count / (max(rows) * len(rows)) for count in rows]


@instead_of(oracle.cut, "the whole batch goes through the model at once")
def uncut(batch: int, micro_batch_size: int) -> list[int]:
    """`micro_batch_size` is not used."""
    return [batch]


@instead_of(oracle.cut, "the rows go through the model one at a time")
def row_by_row(batch: int, micro_batch_size: int) -> list[int]:
    """`micro_batch_size` is not used."""
    return [1] * batch


@instead_of(oracle.cut, "the last, smaller micro-batch is left out")
def rest_dropped(batch: int, micro_batch_size: int) -> list[int]:
    """`range(batch // micro_batch_size)`; a batch that is too small for one is taken whole."""
    return [micro_batch_size] * (batch // micro_batch_size) or [batch]


@instead_of(oracle.gathered, "the gradients are zeroed before each micro-batch: only the last one's are left")
def last_alone(before: Float[Array, "d k"], parts: Sequence[Float[Array, "d k"]]) -> Float[Array, "d k"]:
    """`zero_grad()` within the loop."""
    return parts[-1]


@instead_of(oracle.gathered, "the gradients that were there before are thrown away")
def begins_from_zero(before: Float[Array, "d k"], parts: Sequence[Float[Array, "d k"]]) -> Float[Array, "d k"]:
    """`zero_grad()` before the loop."""
    return sum(parts[1:], parts[0])

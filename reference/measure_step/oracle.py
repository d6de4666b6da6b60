"""Oracle for measure_step that lists the operations of a training step one by one."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

Shape: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class Operation:
    """An operation: the shapes that it reads and writes, and the names of the tensors saved for the backward pass."""

    reads: Sequence[Shape]
    writes: Shape
    flops_each: int  # FLOPs per element written
    is_product: bool = False
    keeps: Sequence[str] = ()

    @property
    def flops(self) -> int:
        """The FLOPs of the whole operation."""
        return self.flops_each * math.prod(self.writes)

    @property
    def elements(self) -> int:
        """The number of elements that are read or written."""
        return sum(map(math.prod, [*self.reads, self.writes]))


def product(a: Shape, b: Shape, keeps: Sequence[str] = ()) -> Operation:
    """Describe the product of an (m, k) matrix and a (k, n) matrix."""
    return Operation([a, b], (a[0], b[1]), 2 * a[1], is_product=True, keeps=keeps)


def relu(shape: Shape, keeps: str = "") -> Operation:
    """Describe a ReLU."""
    return Operation([shape], shape, 1, keeps=[keeps] if keeps else [])


def relu_backward(shape: Shape) -> Operation:
    """Describe a ReLU's backward pass."""
    return Operation([shape, shape], shape, 1)


def sgd(shape: Shape) -> Operation:
    """Describe `p -= lr * p.grad`."""
    return Operation([shape, shape], shape, 2)


def block_forward(B: int, D: int, layer: int) -> list[Operation]:
    """List the forward operations of block number `layer`."""
    return [product((B, D), (D, D), [f"y{layer - 1}"]), relu((B, D), f"y{layer}")]


def block_backward(B: int, D: int, layer: int) -> list[Operation]:
    """List the backward operations of a block. The input of the first block needs no gradient."""
    grad_weight, grad_input = product((D, B), (B, D)), product((B, D), (D, D))
    return [relu_backward((B, D)), grad_weight, *([grad_input] if layer > 1 else [])]


def forward(B: int, D: int, L: int) -> list[Operation]:
    """List the operations of the forward pass."""
    return [operation for layer in range(1, L + 1) for operation in block_forward(B, D, layer)]


def backward(B: int, D: int, L: int) -> list[Operation]:
    """List the operations of the backward pass."""
    return [operation for layer in range(L, 0, -1) for operation in block_backward(B, D, layer)]


def updates(D: int, L: int) -> list[Operation]:
    """List the weight updates."""
    return [sgd((D, D)) for _ in range(L)]


def step(B: int, D: int, L: int) -> list[Operation]:
    """List the operations of the forward pass, the backward pass and the update."""
    return [*forward(B, D, L), *backward(B, D, L), *updates(D, L)]


def work(operations: Sequence[Operation], itemsize: int) -> list[tuple[int, int]]:
    """Return the sorted (FLOPs, bytes) pairs of the operations."""
    return sorted((operation.flops, operation.elements * itemsize) for operation in operations)


def model_flops(operations: Sequence[Operation]) -> int:
    """Add up the FLOPs of the matrix products."""
    return sum(operation.flops for operation in operations if operation.is_product)


def bytes_moved(operations: Sequence[Operation], itemsize: int) -> int:
    """Add up the bytes of all operations."""
    return sum(moved for _, moved in work(operations, itemsize))


def count_saved(operations: Sequence[Operation]) -> int:
    """Count the distinct tensors saved for the backward pass, excluding the weights."""
    return len({name for operation in operations for name in operation.keeps})


def memory_bytes(D: int, L: int, activations: int, itemsize: int) -> int:
    """Return the number of bytes of the weights, their gradients, and the given number of activations."""
    weights = [D * D for _ in range(L)]
    return (2 * sum(weights) + activations) * itemsize


def seconds(operations: Sequence[Operation], itemsize: int, flop_per_sec: float, bytes_per_sec: float) -> float:
    """Add up the minimum seconds that each operation takes according to the roofline."""
    return math.fsum(max(flops / flop_per_sec, moved / bytes_per_sec) for flops, moved in work(operations, itemsize))


def device(flops: int, square_seconds: float, moved: int, tall_seconds: float) -> tuple[float, float]:
    """Return the FLOP/s of the square product and the bytes/s of the matrix-vector product."""
    return flops / square_seconds, moved / tall_seconds


def measure_seconds(steps: int, one: float, first: float) -> float:  # noqa: ARG001
    """Return the seconds per step if each of `steps` takes `one`, after a first one that takes `first` seconds more."""
    return one


def mfu(flops: int, seconds: float, promised: float) -> float:
    """Divide the achieved FLOP/s by the promised FLOP/s."""
    return flops / seconds / promised

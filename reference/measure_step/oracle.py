"""The operations of a training step, one by one: what each computes, reads, writes, and leaves for the way back."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

Shape: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class Operation:
    """Reads tensors of these shapes, writes one, and keeps some by name until the backward pass."""

    reads: Sequence[Shape]
    writes: Shape
    flops_each: int  # for each element that is written
    is_product: bool = False
    keeps: Sequence[str] = ()

    @property
    def flops(self) -> int:
        """Of all elements."""
        return self.flops_each * math.prod(self.writes)

    @property
    def elements(self) -> int:
        """That are moved."""
        return sum(map(math.prod, [*self.reads, self.writes]))


def product(a: Shape, b: Shape, keeps: Sequence[str] = ()) -> Operation:
    """(m, k) by (k, n)."""
    return Operation([a, b], (a[0], b[1]), 2 * a[1], is_product=True, keeps=keeps)


def relu(shape: Shape, keeps: str = "") -> Operation:
    """Compares."""
    return Operation([shape], shape, 1, keeps=[keeps] if keeps else [])


def relu_backward(shape: Shape) -> Operation:
    """Lets the gradient through where the output is not 0."""
    return Operation([shape, shape], shape, 1)


def sgd(shape: Shape) -> Operation:
    """`p -= lr * p.grad`."""
    return Operation([shape, shape], shape, 2)


def block_forward(B: int, D: int, layer: int) -> list[Operation]:
    """Block number `layer`, whose input is the output of the one before it."""
    return [product((B, D), (D, D), [f"y{layer - 1}"]), relu((B, D), f"y{layer}")]


def block_backward(B: int, D: int, layer: int) -> list[Operation]:
    """The gradient of its weight, and of its input unless that is the batch, layer 1's."""
    grad_weight, grad_input = product((D, B), (B, D)), product((B, D), (D, D))
    return [relu_backward((B, D)), grad_weight, *([grad_input] if layer > 1 else [])]


def forward(B: int, D: int, L: int) -> list[Operation]:
    """From the first block to the last."""
    return [operation for layer in range(1, L + 1) for operation in block_forward(B, D, layer)]


def backward(B: int, D: int, L: int) -> list[Operation]:
    """From the last block to the first."""
    return [operation for layer in range(L, 0, -1) for operation in block_backward(B, D, layer)]


def updates(D: int, L: int) -> list[Operation]:
    """One for each weight."""
    return [sgd((D, D)) for _ in range(L)]


def step(B: int, D: int, L: int) -> list[Operation]:
    """Forward, backward, update."""
    return [*forward(B, D, L), *backward(B, D, L), *updates(D, L)]


def work(operations: Sequence[Operation], itemsize: int) -> list[tuple[int, int]]:
    """(FLOPs, bytes) of each, sorted: their order is open."""
    return sorted((operation.flops, operation.elements * itemsize) for operation in operations)


def model_flops(operations: Sequence[Operation]) -> int:
    """Of the products."""
    return sum(operation.flops for operation in operations if operation.is_product)


def bytes_moved(operations: Sequence[Operation], itemsize: int) -> int:
    """By all operations."""
    return sum(moved for _, moved in work(operations, itemsize))


def kept(operations: Sequence[Operation]) -> int:
    """How many tensors stay for the backward pass, beside the weights: each counts once, under its name."""
    return len({name for operation in operations for name in operation.keeps})


def memory_bytes(D: int, L: int, activations: int, itemsize: int) -> int:
    """Weights, as many gradients, and so many elements of activations."""
    weights = [D * D for _ in range(L)]
    return (2 * sum(weights) + activations) * itemsize


def seconds(operations: Sequence[Operation], itemsize: int, flop_per_sec: float, bytes_per_sec: float) -> float:
    """One operation after the other, each as fast as its roofline lets it be."""
    return math.fsum(max(flops / flop_per_sec, moved / bytes_per_sec) for flops, moved in work(operations, itemsize))


def device(flops: int, square_seconds: float, moved: int, tall_seconds: float) -> tuple[float, float]:
    """FLOP/s of the product of square matrices, bytes/s of that of a matrix and a vector."""
    return flops / square_seconds, moved / tall_seconds


def measured(steps: int, one: float, first: float) -> float:  # noqa: ARG001
    """The seconds of one step, where so many of `one` second each were timed after a `first` that warms up."""
    return one


def mfu(flops: int, seconds: float, promised: float) -> float:
    """FLOP/s reached, over FLOP/s promised."""
    return flops / seconds / promised

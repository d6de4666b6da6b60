"""Steps of an optimizer, each with parameters and gradients of its own.

Whole numbers are drawn once; for each call of each block they are multiplied and shifted by new ones, modulo 2³², and
taken for fractions: that costs a pass over memory, and leaves nothing that is shared between calls or computed
beforehand. Results are checked at every STRIDE-th element from a place that nobody knows: whatever was left out, there
is some of it.
"""

import secrets
from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar, TypeAlias

import torch
from torch import Tensor, nn

from torchkata import speed

SGD_MOVES = 3  # read p and grad, write p
STRIDE = 16
BITS = 32

Key: TypeAlias = tuple[int, int]  # a factor, which is odd so that no two numbers become one, and a shift


class OptimizerCheck(speed.Check):
    """p and what a step adds to it.

    p: [calls, P]   grad: [calls, P]
    """

    def __init__(self, memory: speed.Memory, results: speed.Memory, size: speed.Size) -> None:
        super().__init__(memory, results, size)
        generator = speed.SeededInputs(memory["p"].device).generator
        self.p, self.grad = (
            torch.empty_like(memory["p"][0], dtype=torch.int32).random_(-(2**31), 2**31, generator=generator)
            for _ in range(2)
        )
        self.floor = 16 * torch.finfo(memory["p"].dtype).eps / size.rate

    def refresh(self) -> None:
        """New parameters and gradients."""
        self.place = secrets.randbelow(min(STRIDE, self.p.numel()))
        calls = range(len(self.memory["p"]))
        self.p_keys, self.grad_keys = [new_key() for _ in calls], [new_key() for _ in calls]
        for call in calls:
            fractions(self.p, self.p_keys[call], self.memory["p"][call])
            fractions(self.grad, self.grad_keys[call], self.memory["grad"][call])

    def error(self) -> float:
        """The relative error of the change of all parameters that are looked at."""
        off = size = 0.0
        for call, found in enumerate(self.results["p"]):
            before = fractions(self.p[self.place :: STRIDE], self.p_keys[call]).double()
            change = self.change(call, fractions(self.grad[self.place :: STRIDE], self.grad_keys[call]).double())
            off += float((found[self.place :: STRIDE].double() - (before + change)).square().sum())
            size += float(change.square().sum())
        error = (off / size) ** 0.5
        return error if error == error else float("inf")

    @abstractmethod
    def change(self, call: int, grad: Tensor) -> Tensor:
        """What a step adds to the parameters."""


def new_key() -> Key:
    """Numbers that nobody could know before."""
    half = 2 ** (BITS - 1)
    return (secrets.randbits(BITS) | 1) - half, secrets.randbits(BITS) - half


def fractions(whole: Tensor, key: Key, out: Tensor | None = None) -> Tensor:
    """In [−1, 1], other ones for each key.

    whole: int32[P]   returns: float32[P], `out` if that is given
    """
    factor, shift = key
    return torch.mul(torch.mul(whole, factor).add_(shift), 2.0 ** (1 - BITS), out=out)


class OptimizerStep(speed.Rate):
    """A step of some optimizer, bound by memory."""

    sizes = {
        "cpu": speed.Size(parameters=2**20, rate=0.1),
        "cuda": speed.Size(parameters=2**28, rate=0.1),
    }
    unit = "B"
    moves: ClassVar[int]  # how often each parameter must go through memory
    flops: ClassVar[int]  # for each parameter
    needed: ClassVar[str]  # what moves, in words
    remedy: ClassVar[str]

    def fields(self, size: speed.Size, calls: int) -> dict[str, speed.Field]:
        """Of their own for each call."""
        shape, dtype = (calls, size.parameters), speed.dtype_of(size)
        return {"p": speed.Field(shape, dtype, "both"), "grad": speed.Field(shape, dtype, "given")}

    def amount(self, size: speed.Size) -> float:
        """The bytes that a step cannot avoid moving."""
        return self.moves * size.parameters * speed.dtype_of(size).itemsize

    def baseline_amount(self, size: speed.Size) -> float:
        """Of a step of SGD."""
        return SGD_MOVES * size.parameters * speed.dtype_of(size).itemsize

    def intensity(self, size: speed.Size) -> float:
        """That of one parameter."""
        return self.flops / (self.moves * speed.dtype_of(size).itemsize)

    def baseline(self, size: speed.Size, memory: speed.Memory, device: str) -> speed.Block:  # noqa: ARG002
        """`a = b + s · c`, a step of SGD: three passes over memory, 12 bytes for each element of float32."""

        def run() -> None:
            for p, grad in zip(memory["p"], memory["grad"], strict=True):
                torch.add(p, grad, alpha=-size.rate, out=p)

        return run

    def remark(self, measured: speed.Measured) -> str:
        """How often each parameter seems to go through memory."""
        if measured.ratio < speed.CRAWL / 2:
            return (
                f"{measured.ratio:.3f} of what memory allows: is there a Python loop over rows or elements? "
                "Update whole tensors."
            )
        return (
            f"As if every parameter moved through memory {self.moves / measured.ratio:.0f} times; {self.moves} are "
            f"needed ({self.needed}). {self.remedy}"
        )


def parameters(memory: speed.Memory) -> list[nn.Parameter]:
    """Parameters and gradients that lie in memory themselves."""
    made = [nn.Parameter(p) for p in memory["p"]]
    for parameter, grad in zip(made, memory["grad"], strict=True):
        parameter.grad = grad
    return made


def each_steps(optimizers: Sequence[torch.optim.Optimizer]) -> None:
    """One step of each."""
    for optimizer in optimizers:
        optimizer.step()

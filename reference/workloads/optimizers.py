"""Times optimizer steps. Each call has its own parameters and gradients.

Random integers are drawn once. For each call, they are multiplied by a new factor, shifted modulo 2³², and scaled to
[−1, 1]. This takes one pass over memory, and calls share nothing that could be computed in advance. The check compares
every STRIDE-th element from a secret offset, so it detects any update that is systematically omitted.
"""

import secrets
from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar, TypeAlias

import torch
from torch import Tensor, nn

from torchkata import Text, speed

SGD_MOVES = 3  # reads p and grad, writes p
STRIDE = 16
BITS = 32

Key: TypeAlias = tuple[int, int]  # an odd factor, which keeps numbers distinct, and a shift


class OptimizerCheck(speed.Check):
    """Checks the parameters after a step.

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
        """Draw new parameters and gradients."""
        self.place = secrets.randbelow(min(STRIDE, self.p.numel()))
        calls = range(len(self.memory["p"]))
        self.p_keys, self.grad_keys = [new_key() for _ in calls], [new_key() for _ in calls]
        for call in calls:
            fractions(self.p, self.p_keys[call], self.memory["p"][call])
            fractions(self.grad, self.grad_keys[call], self.memory["grad"][call])

    def error(self) -> float:
        """Return the relative error of the update of the checked parameters."""
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
        """Return the change that a step makes to the parameters."""


def new_key() -> Key:
    """Return an unpredictable key."""
    half = 2 ** (BITS - 1)
    return (secrets.randbits(BITS) | 1) - half, secrets.randbits(BITS) - half


def fractions(whole: Tensor, key: Key, out: Tensor | None = None) -> Tensor:
    """Map integers to [−1, 1] in a way that depends on the key.

    whole: int32[P]   returns: float32[P], `out` if that is given
    """
    factor, shift = key
    return torch.mul(torch.mul(whole, factor).add_(shift), 2.0 ** (1 - BITS), out=out)


class OptimizerStep(speed.Rate):
    """Base class of workloads for optimizer steps, which are limited by memory bandwidth."""

    sizes = {
        "cpu": speed.Size(parameters=2**20, rate=0.1),
        "cuda": speed.Size(parameters=2**28, rate=0.1),
    }
    unit = "B"
    moves: ClassVar[int]  # number of reads and writes per parameter
    states: ClassVar[int] = 0  # number of tensors that an optimizer keeps for each parameter
    needed: ClassVar[Text]  # a description of `moves`
    remedy: ClassVar[Text]

    def fields(self, size: speed.Size, calls: int) -> dict[str, speed.Field]:
        """Return the parameters and gradients of each call."""
        shape, dtype = (calls, size.parameters), speed.dtype_of(size)
        return {"p": speed.Field(shape, dtype, "both"), "grad": speed.Field(shape, dtype, "given")}

    def amount(self, size: speed.Size) -> float:
        """Return the minimum number of bytes that a step moves."""
        return self.moves * size.parameters * speed.dtype_of(size).itemsize

    def baseline_amount(self, size: speed.Size) -> float:
        """Return the number of bytes that an SGD step moves."""
        return SGD_MOVES * size.parameters * speed.dtype_of(size).itemsize

    def check_bytes(self, size: speed.Size, calls: int) -> int:
        """Return the bytes of the random integers, of a temporary tensor, and of every STRIDE-th element of a state."""
        parameters = self.fields(size, 1)["p"].bytes
        return 3 * parameters + calls * parameters // STRIDE

    def working_bytes(self, size: speed.Size, calls: int) -> int:
        """Return the bytes of the optimizer's state and of three temporary tensors."""
        parameters = self.fields(size, 1)["p"].bytes
        return (3 + self.states * calls) * parameters

    def baseline(self, size: speed.Size, memory: speed.Memory, device: str) -> speed.Block:  # noqa: ARG002
        """Return a function that runs a block of SGD steps, each of which moves 12 bytes per float32 element."""

        def run() -> None:
            for p, grad in zip(memory["p"], memory["grad"], strict=True):
                torch.add(p, grad, alpha=-size.rate, out=p)

        return run

    def remark(self, measured: speed.Measured) -> Text:
        """Return a remark on how many times each parameter seems to be read or written."""
        if measured.ratio < speed.CRAWL / 2:
            return Text(
                "{ratio} times the speed that memory allows: is there a Python loop over rows or elements? Update "
                "whole tensors.",
                ratio=f"{measured.ratio:.3f}",
            )
        return Text(
            "The time is that of {times} reads and writes per parameter; {moves} are needed ({needed}). {remedy}",
            times=f"{self.moves / measured.ratio:.0f}",
            moves=self.moves,
            needed=self.needed,
            remedy=self.remedy,
        )


def parameters(memory: speed.Memory) -> list[nn.Parameter]:
    """Return parameters and gradients that are views of `memory`."""
    made = [nn.Parameter(p) for p in memory["p"]]
    for parameter, grad in zip(made, memory["grad"], strict=True):
        parameter.grad = grad
    return made


def step_all(optimizers: Sequence[torch.optim.Optimizer]) -> None:
    """Take one step with each optimizer."""
    for optimizer in optimizers:
        optimizer.step()

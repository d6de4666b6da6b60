"""Training steps of a deep linear model: what they need, by plain torch, and replayed in float64.

The replay makes no product of two matrices. The model maps to one number, so the gradient of every weight is an outer
product of two vectors, and what a step does to all of the weights takes O(B D + L D²) operations to find out. With
v_l = W_{l+1} … W_L w the rest of the model from layer l on, r = 2 (x v_0 − target) / B and u_l = W_lᵀ … W_1ᵀ xᵀ r, the
gradient of W_l is u_{l−1} v_lᵀ, and that of the final weight w is u_L.
"""

import math
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from reference.workloads.optimizers import SGD_MOVES
from torchkata import speed

SEED = 0


def step_flops(rows: int, dim: int, num_layers: int) -> int:
    """FLOPs of a forward and backward pass of `Cruncher(dim, num_layers)`, the input needing no gradient.

    Only products of matrices are counted: what is done element by element (the loss, the optimizer's step) is less than
    1/dim of them and bound by memory.

    With B rows, d = dim and L = num_layers, each square layer has up to three products of 2·B·d² each:
    forward `h @ W`, backward `hᵀ @ grad` for its weight and `grad @ Wᵀ` for its input. The first layer's input is
    the batch, which needs no gradient, so one product falls away: (3L − 1) · 2·B·d² = (6L − 2)·B·d².
    The final layer maps d to 1; the same three products cost 2·B·d each. Without square layers (L = 0) its
    own input is the batch, and only two of them are left.
    """
    products = 3 * num_layers - 1 if num_layers else 0
    final_products = 3 if num_layers else 2
    return products * speed.product_flops(rows, dim, dim) + final_products * speed.product_flops(rows, dim, 1)


def step_intensity(size: speed.Size) -> float:
    """FLOP a byte, of a step of L square layers without their last: (6L − 2)·B·d² FLOP, since x needs no gradient.

    Each of the 3L − 1 products moves its three matrices, and SGD moves each weight's.
    """
    B, d, L = size.batch, size.width, size.layers
    products = 3 * L - 1
    moved = products * (2 * B * d + d * d) + L * SGD_MOVES * d * d
    return 2 * products * B * d * d / (speed.dtype_of(size).itemsize * moved)


def parameters(dim: int, num_layers: int) -> int:
    """Numbers in `Cruncher(dim, num_layers)`: L square layers and one column."""
    return num_layers * dim**2 + dim


def batches(size: speed.Size, calls: int) -> dict[str, speed.Field]:
    """One for each call."""
    return {
        "x": speed.Field((calls, size.batch, size.width), speed.dtype_of(size), "given"),
        "target": speed.Field((calls, size.batch), speed.dtype_of(size), "given"),
    }


def load(model: Any, layers: Tensor, final: Tensor) -> None:
    """Put weights into a model."""
    with torch.no_grad():
        for layer, weight in zip(model.layers, layers, strict=True):
            layer.weight.copy_(weight)
        model.final.weight.copy_(final)


def save(model: Any, layers: Tensor, final: Tensor) -> None:
    """Take the weights out of a model."""
    with torch.no_grad():
        for layer, weight in zip(model.layers, layers, strict=True):
            weight.copy_(layer.weight)
        final.copy_(model.final.weight)


def step(x: Tensor, target: Tensor, layers: Tensor, final: Tensor, rate: float) -> None:
    """Descend the mean squared error once, in place: `(6 L − 2) B D²` FLOP and little else.

    x: [B, D]   target: [B]   layers: [L, D, D]   final: [D, 1]
    """
    inputs = [x]
    for weight in layers:
        inputs.append(torch.mm(inputs[-1], weight))
    error = torch.mm(inputs[-1], final).squeeze(-1).sub_(target).mul_(2 / len(x))
    grad = torch.outer(error, final.squeeze(-1))
    final.addmm_(inputs.pop().T, error.unsqueeze(-1), alpha=-rate)
    for i in reversed(range(len(layers))):
        update = torch.mm(inputs.pop().T, grad)
        if i:
            grad = torch.mm(grad, layers[i].T)
        layers[i].add_(update, alpha=-rate)


class Batches:
    """The `get_batch` that `train` is given: it hands out the batches in memory, and says how many so far."""

    def __init__(self, memory: speed.Memory, first: Callable[[], object] = lambda: None) -> None:
        self.memory = memory
        self.first = first  # done when the first one is asked for
        self.asked = 0
        memory["asked"].zero_()

    def __call__(self, *, B: int) -> tuple[Tensor, Tensor]:  # noqa: ARG002  (what `train` must name)
        """The next batch."""
        if self.asked == 0:
            self.first()
        self.asked += 1
        self.memory["asked"].fill_(self.asked)
        return self.memory["x"][self.asked - 1], self.memory["target"][self.asked - 1]


def train(
    assignment: Any, size: speed.Size, memory: speed.Memory, device: str, first: Callable[[], object] = lambda: None
) -> speed.Block:
    """All steps of a student's training run, from a start that is noted; `first` is done when they begin."""
    steps = len(memory["x"])

    def trained(get_batch: Callable[..., tuple[Tensor, Tensor]], steps: int) -> Any:
        torch.manual_seed(SEED)
        # drawn on the host, a large model's start would take a GPU longer than the steps
        with nullcontext() if device == "cpu" else torch.device(device):
            shape = size.width, size.layers, size.batch
            return assignment.train.train(get_batch, *shape, steps, size.rate, device)[0]

    def run() -> None:
        save(trained(Batches(memory, first), steps), memory["new_layers"], memory["new_final"])

    save(trained(Batches(memory), 0), memory["layers"], memory["final"])
    return run


@dataclass
class Weights:
    """float64 copies.

    layers: [L, D, D]   final: [D, 1]
    """

    layers: Tensor
    final: Tensor

    @classmethod
    def of(cls, layers: Tensor, final: Tensor) -> "Weights":
        """Copies of any dtype."""
        return cls(layers.to(torch.float64, copy=True), final.to(torch.float64, copy=True))

    def step(self, x: Tensor, target: Tensor, rate: float) -> None:
        """Descend the mean squared error of one batch.

        x: [B, D]   target: [B]
        """
        x, target = x.double(), target.double()
        rest = [self.final.squeeze(-1)]
        for weight in self.layers.flip(0):
            rest.append(weight @ rest[-1])
        back = x.T @ ((x @ rest.pop() - target) * (2 / len(x)))
        for weight in self.layers:
            onward = weight.T @ back
            weight.addr_(back, rest.pop(), alpha=-rate)
            back = onward
        self.final.sub_(back.unsqueeze(-1), alpha=rate)

    def error(self, start: "Weights", layers: Tensor, final: Tensor) -> float:
        """How far off the change of a weight is, relative to it: the largest of all; `self` is what is right."""
        pairs = [*zip(self.layers, start.layers, layers, strict=True), (self.final, start.final, final)]
        return max(relative(found.double() - right, right - before) for right, before, found in pairs)


def relative(difference: Tensor, change: Tensor) -> float:
    """Norm by norm; infinite for what is no number, and where nothing had to change."""
    off, size = float(difference.square().sum()), float(change.square().sum())
    return math.sqrt(off / size) if size > 0 and math.isfinite(off) else math.inf


class TrainingCheck(speed.Check):
    """Steps that follow each other, from the start that the worker has chosen, as a student's `train` does."""

    def __init__(self, memory: speed.Memory, results: speed.Memory, size: speed.Size) -> None:
        super().__init__(memory, results, size)
        self.inputs = speed.SeededInputs(memory["x"].device)
        self.floor = self.least_error()

    def least_error(self) -> float:
        """What rounding does to the change of the weights: that of the weights, and that of the products on the way.

        A step changes weights by about `rate / √D` of their size. Products are summed in float32, 2 L one after the
        other, whose errors know nothing of each other.
        """
        smallest_change = self.size.rate / math.sqrt(self.size.width)
        of_weights = torch.finfo(self.memory["x"].dtype).eps / min(1.0, smallest_change)
        return of_weights + speed.floor(torch.float32, self.size.width) * math.sqrt(2 * self.size.layers)

    def prepare(self) -> None:
        """Nothing stays the same but what the worker will choose."""
        self.spoil()

    def begun(self) -> None:
        """The start."""
        self.start = Weights.of(self.memory["layers"], self.memory["final"])

    def refresh(self) -> None:
        """A new batch for each step."""
        self.inputs.draw_new()
        for x, target in zip(self.memory["x"], self.memory["target"], strict=True):
            self.inputs.fill(x)
            self.inputs.fill(target)
        self.spoil()

    def spoil(self) -> None:
        """No result is there yet."""
        for name in ("new_layers", "new_final"):
            self.memory[name].fill_(torch.nan)

    def batches(self) -> list[tuple[Tensor, Tensor]]:
        """The batches again, as they were laid out."""
        self.inputs.rewind()
        x, target = self.memory["x"][0], self.memory["target"][0]
        return [
            (self.inputs.fill(torch.empty_like(x)), self.inputs.fill(torch.empty_like(target)))
            for _ in self.memory["x"]
        ]

    def error(self) -> float:
        """Of the weights after the last step."""
        batches = self.batches()
        if not self.a_fair_start() or not self.untouched(batches):
            return math.inf
        right = Weights.of(self.start.layers, self.start.final)
        for x, target in batches:
            right.step(x, target, self.size.rate)
        return right.error(self.start, self.results["new_layers"], self.results["new_final"])

    def a_fair_start(self) -> bool:
        """Whether the weights have the size that `linear` asks for: from zeros, say, nothing would have to be done."""
        allowed = (*((layer, 0.1) for layer in self.start.layers), (self.start.final, 0.5))
        return all(abs(float(weight.std()) * self.size.width**0.5 - 1) < slack for weight, slack in allowed)

    def untouched(self, batches: list[tuple[Tensor, Tensor]]) -> bool:
        """Whether the inputs are what they were: they are no room for anything else, which would not be counted."""
        return all(torch.equal(x, found) for (x, _), found in zip(batches, self.memory["x"], strict=True))


class TrainingRun(speed.Work):
    """A training run, whatever is measured of it."""

    check = TrainingCheck

    def fields(self, size: speed.Size, calls: int) -> dict[str, speed.Field]:
        """One batch for each step."""
        L, D, dtype = size.layers, size.width, speed.dtype_of(size)
        return {
            "asked": speed.Field((1,), torch.int64, "filled", on_host=True),  # how many batches so far
            **batches(size, calls),
            "layers": speed.Field((L, D, D), dtype, "both"),  # the start, which is the student's own
            "final": speed.Field((D, 1), dtype, "both"),
            "new_layers": speed.Field((L, D, D), dtype, "filled"),
            "new_final": speed.Field((D, 1), dtype, "filled"),
        }

    def student(self, assignment: Any, size: speed.Size, memory: speed.Memory, device: str) -> speed.Block:
        """All steps, by `train`."""
        return train(assignment, size, memory, device)

    def baseline(self, size: speed.Size, memory: speed.Memory, device: str) -> speed.Block:  # noqa: ARG002
        """One step after the other, from a random start."""
        for weight in (memory["layers"], memory["final"]):
            weight.normal_(std=size.width**-0.5)

        def run() -> None:
            layers, final = memory["layers"].clone(), memory["final"].clone()
            for x, target in zip(memory["x"], memory["target"], strict=True):
                step(x, target, layers, final, size.rate)
            memory["new_layers"].copy_(layers)
            memory["new_final"].copy_(final)

        return run

"""Training steps of a deep linear model: FLOPs, a plain implementation, and a replay in float64.

The replay avoids products of two matrices. The model's output is one number, so the gradient of every weight is an
outer product of two vectors, and computing all updates of a step takes O(B D + L D²) operations. Let
v_l = W_{l+1} … W_L w, r = 2 (x v_0 − target) / B and u_l = W_lᵀ … W_1ᵀ xᵀ r. Then the gradient of W_l is
u_{l−1} v_lᵀ, and that of the final weight w is u_L.
"""

import math
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from torchkata import speed

SEED = 0


def step_flops(rows: int, dim: int, num_layers: int) -> int:
    """Return the FLOPs of the forward and backward pass of `Cruncher(dim, num_layers)`, excluding the input gradient.

    Only matrix multiplications are counted. Elementwise operations (loss, optimizer) take less than 1/dim of these
    FLOPs and are limited by memory.

    With B rows, d = dim and L = num_layers, each square layer has up to three products of 2·B·d² each:
    forward `h @ W`, backward `hᵀ @ grad` for its weight and `grad @ Wᵀ` for its input. The first layer's input is
    the batch, which needs no gradient, so there is one product fewer: (3L − 1) · 2·B·d² = (6L − 2)·B·d².
    The final layer maps d to 1; its three products cost 2·B·d each. Without square layers (L = 0) its input is the
    batch, and it has only two products.
    """
    products = 3 * num_layers - 1 if num_layers else 0
    final_products = 3 if num_layers else 2
    return products * speed.product_flops(rows, dim, dim) + final_products * speed.product_flops(rows, dim, 1)


def batches(size: speed.Size, calls: int) -> dict[str, speed.Field]:
    """Return the fields for inputs and targets, which contain a separate batch for each call."""
    return {
        "x": speed.Field((calls, size.batch, size.width), speed.dtype_of(size), "given"),
        "target": speed.Field((calls, size.batch), speed.dtype_of(size), "given"),
    }


class TrainingRate(speed.Rate):
    """Base class of workloads that train a deep linear model."""

    unit = "FLOP"
    has_shortcut = True  # the model is linear, so its weights can be multiplied with each other first
    shrinks = ("batch", "width")

    def amount(self, size: speed.Size) -> float:
        """Return the FLOPs of a step."""
        return step_flops(size.batch, size.width, size.layers)

    def check_bytes(self, size: speed.Size, calls: int) -> int:
        """Return the bytes of all batches and, in float64, of a batch, of two models and of four layers."""
        matrix, batch = size.width**2, size.batch * size.width
        return calls * batch * speed.dtype_of(size).itemsize + 8 * (batch + (2 * size.layers + 4) * matrix)

    def working_bytes(self, size: speed.Size, calls: int) -> int:  # noqa: ARG002
        """Return the bytes of a model, its gradients, and the inputs and gradients of each layer."""
        matrix, batch = size.width**2, size.batch * size.width
        elements = (2 * size.layers + 2) * matrix + (2 * size.layers + 4) * batch
        return elements * speed.dtype_of(size).itemsize


def load(model: Any, layers: Tensor, final: Tensor) -> None:
    """Load weights into a model."""
    with torch.no_grad():
        for layer, weight in zip(model.layers, layers, strict=True):
            layer.weight.copy_(weight)
        model.final.weight.copy_(final)


def save(model: Any, layers: Tensor, final: Tensor) -> None:
    """Copy the weights of a model into the given tensors."""
    with torch.no_grad():
        for layer, weight in zip(model.layers, layers, strict=True):
            weight.copy_(layer.weight)
        final.copy_(model.final.weight)


def step(x: Tensor, target: Tensor, layers: Tensor, final: Tensor, rate: float) -> None:
    """Take one SGD step on the mean squared error in place, with `(6 L − 2) B D²` FLOPs.

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
    """The `get_batch` that is passed to `train`. It returns the batches in memory, one after another."""

    def __init__(self, memory: speed.Memory) -> None:
        self.left = [*zip(memory["x"], memory["target"], strict=True)]

    def __call__(self, *, B: int) -> tuple[Tensor, Tensor]:  # noqa: ARG002  (`train` passes B by name)
        """Return the next batch."""
        return self.left.pop(0)


def train(assignment: Any, size: speed.Size, memory: speed.Memory, device: str) -> speed.Block:
    """Save the initial weights. Return a function that runs `train`."""
    steps = len(memory["x"])

    def trained(get_batch: Callable[..., tuple[Tensor, Tensor]], steps: int) -> Any:
        torch.manual_seed(SEED)
        # drawing a large model's weights on the host would take longer than the steps on a GPU
        with nullcontext() if device == "cpu" else torch.device(device):
            shape = size.width, size.layers, size.batch
            return assignment.train.train(get_batch, *shape, steps, size.rate, device)[0]

    def run() -> None:
        save(trained(Batches(memory), steps), memory["new_layers"], memory["new_final"])

    save(trained(Batches(memory), 0), memory["layers"], memory["final"])
    return run


@dataclass
class Weights:
    """The weights of a model in float64.

    layers: [L, D, D]   final: [D, 1]
    """

    layers: Tensor
    final: Tensor

    @classmethod
    def of(cls, layers: Tensor, final: Tensor) -> "Weights":
        """Return float64 copies of weights of any dtype."""
        return cls(layers.to(torch.float64, copy=True), final.to(torch.float64, copy=True))

    def step(self, x: Tensor, target: Tensor, rate: float) -> None:
        """Take one SGD step on the mean squared error of a batch.

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
        """Return the largest relative error in the change of any weight matrix. `self` contains the correct weights."""
        pairs = [*zip(self.layers, start.layers, layers, strict=True), (self.final, start.final, final)]
        return max(relative(found.double() - right, right - before) for right, before, found in pairs)


def relative(difference: Tensor, change: Tensor) -> float:
    """Return the ratio of the norms, or infinity if a norm is NaN or the correct change is zero."""
    off, size = float(difference.square().sum()), float(change.square().sum())
    return math.sqrt(off / size) if size > 0 and math.isfinite(off) else math.inf


class TrainingCheck(speed.Check):
    """Checks consecutive steps that start from initial weights drawn by the worker."""

    def __init__(self, memory: speed.Memory, results: speed.Memory, size: speed.Size) -> None:
        super().__init__(memory, results, size)
        self.inputs = speed.SeededInputs(memory["x"].device)
        self.floor = self.least_error()

    def least_error(self) -> float:
        """Return the relative error that the rounding of weights and products causes in the change of the weights.

        A step changes weights by about `rate / √D` of their magnitude.
        """
        smallest_change = self.size.rate / math.sqrt(self.size.width)
        of_weights = torch.finfo(self.memory["x"].dtype).eps / min(1.0, smallest_change)
        return of_weights + self.error_of_sums()

    def error_of_sums(self) -> float:
        """Return the relative error of 2 L products in sequence, whose sums are computed in float32."""
        return speed.floor(torch.float32, self.size.width) * math.sqrt(2 * self.size.layers)

    def prepare(self) -> None:
        """Clear the results."""
        self.clear_results()

    def begun(self) -> None:
        """Save the initial weights."""
        self.start = Weights.of(self.memory["layers"], self.memory["final"])

    def refresh(self) -> None:
        """Draw a new batch for each step."""
        self.inputs.draw_new()
        for x, target in zip(self.memory["x"], self.memory["target"], strict=True):
            self.inputs.fill(x)
            self.inputs.fill(target)
        self.clear_results()

    def clear_results(self) -> None:
        """Fill the results with NaN values."""
        for name in ("new_layers", "new_final"):
            self.memory[name].fill_(torch.nan)

    def batches(self) -> list[tuple[Tensor, Tensor]]:
        """Redraw the batches and return them."""
        self.inputs.rewind()
        x, target = self.memory["x"][0], self.memory["target"][0]
        return [
            (self.inputs.fill(torch.empty_like(x)), self.inputs.fill(torch.empty_like(target)))
            for _ in self.memory["x"]
        ]

    def error(self) -> float:
        """Return the error of the weights after the last step."""
        if not self.has_right_scale():
            return math.inf
        right = Weights.of(self.start.layers, self.start.final)
        for x, target in self.batches():
            right.step(x, target, self.size.rate)
        return right.error(self.start, self.results["new_layers"], self.results["new_final"])

    def has_right_scale(self) -> bool:
        """Return whether the initial weights have the correct standard deviation. Zero weights would avoid all work."""
        allowed = (*((layer, 0.1) for layer in self.start.layers), (self.start.final, 0.5))
        return all(abs(float(weight.std()) * self.size.width**0.5 - 1) < slack for weight, slack in allowed)

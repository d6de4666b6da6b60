"""Probes for same_storage that build tensors from expressions and then compare every pair of them."""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from torchkata import typed

# Each step creates a tensor from an earlier one. VIEWS share its allocation, and COPIES have a new one.
VIEWS = ("slice", "row", "transpose", "expand", "every_second", "detach", "bits", "bytes", "flatten", "parameter")
COPIES = ("clone", "plus_zero", "contiguous", "new_equal")
PARTS = (  # pairs of expressions, first those that do not overlap, and whether they share a storage
    ("x[:{cut}]", "x[{cut}:]", True),
    ("x[{cut}:]", "x[:{cut}]", True),
    ("x[::2]", "x[1::2]", True),
    ("x[:{cut}]", "x[{cut}:].view(torch.uint8)[1:]", True),
    ("x[:{cut}]", "x[{cut}:].view(torch.int32)", True),
    ("x", "x", True),
    ("x", "x[:{cut}]", True),
    ("x", "x[{cut}:]", True),
    ("x[:{cut}]", "x[:{cut}]", True),
    ("x", "x.view(torch.int32)", True),
    ("x", "nn.Parameter(x, requires_grad=False)", True),
    ("x", "x.clone()", False),
    ("x[:{cut}]", "x[{cut}:].clone()", False),
    ("x[:{cut}]", "x.clone()[:{cut}]", False),
    ("x[{cut}:]", "(x + 1)[{cut}:]", False),
    ("x", "x + 1", False),
)
ALL_PAIRS = "[same_storage(a, b) for a in ts for b in ts]"


def format_step(x: Tensor, step: str, a: int, b: int) -> str:
    """Return the source code of one step of a recipe. `a` and `b` select the dimension and the index."""
    axis = a % max(x.ndim, 1)
    match step:
        case "slice" if x.ndim:
            start = b % x.shape[axis]
            return f"{{x}}[{':, ' * axis}{start}:]"
        case "row" if x.ndim:
            return f"{{x}}[{':, ' * axis}{b % x.shape[axis]}]"
        case "transpose" if x.ndim:
            return f"{{x}}.transpose({axis}, {b % x.ndim})"
        case "every_second" if x.ndim:
            return "{x}[::2]"
        case "flatten" if x.is_contiguous():
            return "{x}.view(-1)"
        case "bits" if x.element_size() == 4:
            return "{x}.view(torch.float32)" if x.dtype == torch.int32 else "{x}.view(torch.int32)"
        case "bytes" if x.ndim and x.stride(-1) == 1:
            return "{x}.view(torch.uint8)"
        case "expand":
            return f"{{x}}.expand({2 + b % 2}, {'-1, ' * x.ndim}".removesuffix(", ") + ")"
        case "detach":
            return "{x}.detach()"
        case "parameter":
            return "nn.Parameter({x}, requires_grad=False)"
        case "clone":
            return "{x}.clone()"
        case "plus_zero":
            return "({x} + 0)"
        case "contiguous":
            return f"{{x}}.expand(2, {'-1, ' * x.ndim}".removesuffix(", ") + ").contiguous()"
        case "new_equal":
            return "torch.tensor({x}.tolist(), dtype={x}.dtype)"
        case _:
            return "{x}.unsqueeze(0)"


def evaluate(expression: str, x: Tensor) -> Tensor:
    """Return the value of an expression of x."""
    tensor: Tensor = eval(expression, {"torch": torch, "nn": nn, "x": x})
    return tensor


def build(x: Tensor, recipe: list[list[Any]]) -> list[tuple[str, Tensor]]:
    """Return x and the tensor made by each step, each paired with its source code. A step is `[source, step, a, b]`."""
    tensors = [("x", x.clone())]
    for source, step, a, b in recipe:
        name, tensor = tensors[source]
        code = format_step(tensor, step, a, b)
        tensors.append((code.format(x=name), evaluate(code.format(x="x"), tensor)))
    return tensors


def ask(assignment: Any, x: Tensor, y: Tensor) -> object:
    """Return the answer for two tensors. A NumPy bool, which may not leave this process, is returned as text."""
    answer = assignment.same_storage.same_storage(x, y)
    return f"np.{bool(answer)}_" if isinstance(answer, np.bool_) else answer


@typed(lambda x, _recipe: f"ts = [{', '.join(code for code, _ in build(x, _recipe))}]\n{ALL_PAIRS}")
def compare_all(assignment: Any, x: Tensor, _recipe: list[list[Any]]) -> list[list[object]]:
    """Return the result of `same_storage` for every pair of tensors in the recipe."""
    tensors = [tensor for _, tensor in build(x, _recipe)]
    return [[ask(assignment, x, y) for y in tensors] for x in tensors]


def list_parts(cut: int) -> list[tuple[str, str, bool]]:
    """Return PARTS with `{cut}` replaced by the given index."""
    return [(a.format(cut=cut), b.format(cut=cut), share) for a, b, share in PARTS]


@typed(lambda _cut: "\n".join(f"same_storage({a}, {b})" for a, b, _ in list_parts(_cut)))
def compare_parts(assignment: Any, x: Tensor, _cut: int) -> list[object]:
    """Return the result of `same_storage` for each pair in PARTS."""
    x = x.clone()
    return [ask(assignment, evaluate(a, x), evaluate(b, x)) for a, b, _ in list_parts(_cut)]


@typed(
    lambda x, _step: "\n".join(
        [
            "x.requires_grad_()",
            "x.grad = torch.ones_like(x)",
            *([f"y = {format_step(x, _step, 0, 1).format(x='x')}"] if _step else ["y.requires_grad_()"]),
            "same_storage(x, y)",
            "x, x.grad, x._version, y, y._version",
        ]
    )
)
def observe(assignment: Any, x: Tensor, y: Tensor, _step: str) -> dict[str, object]:
    """Return the answers for (x, x) and (x, y), and the state of x and another tensor before and after the calls."""
    x = x.clone().requires_grad_()
    x.grad = torch.ones_like(x)
    other = evaluate(format_step(x, _step, 0, 1).format(x="x"), x) if _step else y.clone().requires_grad_()
    if not _step:
        other.grad = torch.ones_like(other)

    def look() -> dict[str, object]:
        return {
            "shapes": [x.shape, other.shape],
            "strides": [x.stride(), other.stride()],
            "values": [x.clone(), other.clone()],
            "gradients": [t.grad.clone() if t.is_leaf and t.grad is not None else None for t in (x, other)],
            "requires_grad": [x.requires_grad, other.requires_grad],
            "versions": [x._version, other._version],
        }

    before = look()
    assignment.same_storage.same_storage(x, other)
    after = look()
    return {"answers": [ask(assignment, x, each) for each in (x, y.clone())], "before": before, "after": after}

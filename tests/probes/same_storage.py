"""Probes of same_storage: build tensors from a recipe, then ask about every pair."""

from typing import Any

import torch
from torch import Tensor, nn

# Each step makes a tensor from an earlier one. VIEWS stay on its allocation, COPIES begin a new one.
VIEWS = ("slice", "row", "transpose", "expand", "every_second", "detach", "bits", "bytes", "flatten", "parameter")
COPIES = ("clone", "plus_zero", "contiguous", "new_equal")


def grow(source: Tensor, step: str, a: int, b: int) -> Tensor:
    """One step of a recipe; `a` and `b` choose the axis and the place."""
    axis = a % max(source.ndim, 1)
    match step:
        case "slice" if source.ndim:
            start = b % source.shape[axis]
            return source.narrow(axis, start, source.shape[axis] - start)
        case "row" if source.ndim:
            return source.select(axis, b % source.shape[axis])
        case "transpose" if source.ndim:
            return source.transpose(axis, b % source.ndim)
        case "every_second" if source.ndim:
            return source[::2]
        case "flatten" if source.is_contiguous():
            return source.view(-1)
        case "bits" if source.element_size() == 4:
            return source.detach().view(torch.float32 if source.dtype == torch.int32 else torch.int32)
        case "bytes" if source.ndim and source.stride(-1) == 1:
            return source.detach().view(torch.uint8)
        case "expand":
            return source.unsqueeze(0).expand(2 + b % 2, *source.shape)
        case "detach":
            return source.detach()
        case "parameter":
            return nn.Parameter(source.detach(), requires_grad=False)
        case "clone":
            return source.clone()
        case "plus_zero":
            return source + 0
        case "contiguous":
            return source.unsqueeze(0).expand(2, *source.shape).contiguous()
        case "new_equal":
            return torch.tensor(source.tolist(), dtype=source.dtype)
        case _:
            return source.unsqueeze(0)


def build(root: Tensor, recipe: list[list[Any]]) -> list[Tensor]:
    """The root, then one tensor for each step `[source, step, a, b]`."""
    tensors = [root.clone()]
    for source, step, a, b in recipe:
        tensors.append(grow(tensors[source], step, a, b))
    return tensors


def answers(assignment: Any, root: Tensor, recipe: list[list[Any]]) -> list[list[object]]:
    """`same_storage` of every pair."""
    tensors = build(root, recipe)
    return [[assignment.same_storage.same_storage(x, y) for y in tensors] for x in tensors]


def halves(assignment: Any, x: Tensor, cut: int) -> list[object]:
    """The two sides of a cut, asked both ways round, one as bytes, and one side with a copy of the other."""
    same_storage, left, right = assignment.same_storage.same_storage, x[:cut], x[cut:]
    pairs = [(left, right), (right, left), (left, right.view(torch.uint8)[1:]), (left, right.clone())]
    return [same_storage(*pair) for pair in pairs]


def traces(assignment: Any, x: Tensor, y: Tensor, step: str) -> dict[str, object]:
    """The answer, and all that can be seen of the two tensors before and after the question."""
    x = x.clone().requires_grad_()
    x.grad = torch.ones_like(x)
    other = grow(x, step, 0, 0) if step else y.clone().requires_grad_()
    if not step:
        other.grad = torch.ones_like(other)

    def look() -> dict[str, object]:
        return {
            "values": [x.clone(), other.clone()],
            "gradients": [t.grad.clone() if t.is_leaf and t.grad is not None else None for t in (x, other)],
            "shapes": [x.shape, other.shape],
            "strides": [x.stride(), other.stride()],
            "requires_grad": [x.requires_grad, other.requires_grad],
            "versions": [x._version, other._version],
        }

    before = look()
    answer = assignment.same_storage.same_storage(x, other)
    return {"answer": answer, "before": before, "after": look()}

"""Probes for linear_backward."""

from typing import Any

import torch
from torch import Tensor

from torchkata import typed


@typed("linear_backward(x, w, grad_y)")
def gradients(assignment: Any, x: Tensor, w: Tensor, grad_y: Tensor) -> dict[str, object]:
    """Return both gradients by name."""
    return name_gradients(assignment.linear_backward.linear_backward(x, w, grad_y))


@typed("linear_backward(x, w, grad_y)")
def gives_a_tuple(assignment: Any, x: Tensor, w: Tensor, grad_y: Tensor) -> bool:
    """Return whether the result is a tuple."""
    return isinstance(assignment.linear_backward.linear_backward(x, w, grad_y), tuple)


@typed(
    "with torch.inference_mode():\n"
    "    grads = linear_backward(x.mT.contiguous().mT, w.clone(), grad_y.mT.contiguous().mT)\n"
    "grads"
)
def gradients_without_autograd(assignment: Any, x: Tensor, w: Tensor, grad_y: Tensor) -> dict[str, object]:
    """Return both gradients by name, computed in inference mode from a non-contiguous x and grad_y."""
    with torch.inference_mode():
        x, grad_y = (each.mT.clone(memory_format=torch.contiguous_format).mT for each in (x, grad_y))
        return name_gradients(assignment.linear_backward.linear_backward(x, w.clone(), grad_y))


@typed("x.requires_grad_(); w.requires_grad_()\nlinear_backward(x, w, grad_y)\nx.grad, w.grad")
def traces(assignment: Any, x: Tensor, w: Tensor, grad_y: Tensor) -> dict[str, object]:
    """Return the results of a call in which x and w require grad, and the state of the arguments afterwards."""
    x, w, grad_y = x.clone().requires_grad_(), w.clone().requires_grad_(), grad_y.clone()
    results = name_gradients(assignment.linear_backward.linear_backward(x, w, grad_y))
    return {
        "arguments": [x, w, grad_y],
        "gradients": [x.grad, w.grad],
        "still require grad": [x.requires_grad, w.requires_grad, grad_y.requires_grad],
        "results": results,
    }


def name_gradients(result: Any) -> dict[str, object]:
    """Return `(grad_x, grad_w)` by name. A result that is not a pair is returned as grad_x."""
    if isinstance(result, (tuple, list)) and len(result) == 2:
        return {"grad_x": result[0], "grad_w": result[1]}
    return {"grad_x": result, "grad_w": None}

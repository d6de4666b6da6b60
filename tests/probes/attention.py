"""Probes for attention."""

from typing import Any

from torch import Tensor

from torchkata import typed


@typed(
    "for x in (q, k, v): x.requires_grad_()\n"
    "(attention(q.clone(), k.clone(), v.clone(), mask) * grad).sum().backward()\n"
    "q.grad, k.grad, v.grad"
)
def gradients(
    assignment: Any, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, grad: Tensor
) -> dict[str, Tensor | None]:
    """Return the gradients of q, k and v.

    The arguments are copies, so that code that modifies them in place gets no error message about leaves.
    """
    leaves = [x.clone().requires_grad_() for x in (q, k, v)]
    (assignment.attention.attention(*(leaf.clone() for leaf in leaves), mask) * grad).sum().backward()
    return {name: leaf.grad for name, leaf in zip("qkv", leaves, strict=True)}


@typed("attention(q, k, v, mask)\nq, k, v, mask")
def inputs_after(assignment: Any, q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> dict[str, Tensor]:
    """Return the inputs after a call."""
    assignment.attention.attention(q, k, v, mask)
    return {"q": q, "k": k, "v": v, "mask": mask}


@typed("multi_head_attention(q, k, v, heads, mask)")
def error_of_heads(assignment: Any, q: Tensor, k: Tensor, v: Tensor, heads: int, mask: Tensor | None) -> str | None:
    """Return the type of the error that multi_head_attention raises, if any."""
    try:
        assignment.attention.multi_head_attention(q, k, v, heads, mask)
    except NotImplementedError:
        raise
    except Exception as error:
        return type(error).__name__
    return None

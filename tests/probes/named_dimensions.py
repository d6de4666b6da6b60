"""Probes for named_dimensions."""

from typing import Any

from torch import Tensor

from torchkata import typed

from .attempts import refusal


@typed("attention_scores(q, k)")
def scores(assignment: Any, q: Tensor, k: Tensor) -> object:
    """Call `attention_scores`."""
    return assignment.named_dimensions.attention_scores(q, k)


@typed("q.requires_grad_(); k.requires_grad_()\n(attention_scores(q, k) * grad).sum().backward()\nq.grad, k.grad")
def gradients_of_scores(assignment: Any, q: Tensor, k: Tensor, grad: Tensor) -> dict[str, object]:
    """Return the gradients of q and k."""
    q, k = q.clone().requires_grad_(), k.clone().requires_grad_()
    (assignment.named_dimensions.attention_scores(q, k) * grad).sum().backward()
    return {"q": q.grad, "k": k.grad}


@typed("mean_over_hidden(x)")
def mean(assignment: Any, x: Tensor) -> object:
    """Call `mean_over_hidden`."""
    return assignment.named_dimensions.mean_over_hidden(x)


@typed("mean_over_hidden(x.requires_grad_()).requires_grad")
def mean_has_graph(assignment: Any, x: Tensor) -> bool:
    """Return whether gradients can flow through `mean_over_hidden`."""
    y = assignment.named_dimensions.mean_over_hidden(x.clone().requires_grad_())
    return isinstance(y, Tensor) and y.requires_grad


@typed("per_head_linear(x, w, heads)")
def per_head(assignment: Any, x: Tensor, w: Tensor, heads: int) -> object:
    """Call `per_head_linear`."""
    return assignment.named_dimensions.per_head_linear(x, w, heads)


@typed("x.requires_grad_(); w.requires_grad_()\n(per_head_linear(x, w, heads) * grad).sum().backward()\nx.grad, w.grad")
def gradients_per_head(assignment: Any, x: Tensor, w: Tensor, heads: int, grad: Tensor) -> dict[str, object]:
    """Return the gradients of x and w."""
    x, w = x.clone().requires_grad_(), w.clone().requires_grad_()
    (assignment.named_dimensions.per_head_linear(x, w, heads) * grad).sum().backward()
    return {"x": x.grad, "w": w.grad}


@typed(
    "per_head_linear(x[..., :heads * len(w)], w, heads)  # fits: no exception\n"
    "per_head_linear(x, w, heads)  # does not fit"
)
def split_badly(assignment: Any, x: Tensor, w: Tensor, heads: int) -> list[str]:
    """Return the exception raised for heads that do not fit. A call with heads that fit must succeed."""
    per_head_linear = assignment.named_dimensions.per_head_linear
    per_head_linear(x[..., : heads * len(w)], w, heads)
    return refusal(lambda: per_head_linear(x, w, heads))


@typed("causal_mask(n)")
def mask(assignment: Any, n: int) -> object:
    """Call `causal_mask`."""
    return assignment.named_dimensions.causal_mask(n)

"""Reference solution for language_model."""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from .attention import multi_head_attention
from .linear import Linear
from .puzzles import rms_norm


class CausalAttention(nn.Module):
    """Multi-head causal self-attention."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.heads = math.gcd(dim, 4)
        self.project, self.merge = Linear(dim, 3 * dim), Linear(dim, dim)

    def forward(self, x: Float[Tensor, "batch T dim"]) -> Float[Tensor, "batch T dim"]:
        """Return a mixture of each position and earlier ones."""
        q, k, v = self.project(x).chunk(3, dim=-1)
        mask = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).tril()
        return self.merge(multi_head_attention(q, k, v, self.heads, mask))


class MLP(nn.Module):
    """Two matrices with a ReLU between them."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.up = Linear(dim, 4 * dim)
        self.down = Linear(4 * dim, dim)

    def forward(self, x: Float[Tensor, "... dim"]) -> Float[Tensor, "... dim"]:
        """Return `down(relu(up(x)))`."""
        return self.down(torch.relu(self.up(x)))


class LanguageModel(nn.Module):
    """Embeddings, `num_layers` pairs of attention and MLP, and a linear output layer."""

    def __init__(self, vocab: int, dim: int, num_layers: int, context: int) -> None:
        super().__init__()
        self.context = context
        self.tokens = nn.Embedding(vocab, dim)
        self.positions = nn.Embedding(context, dim)
        self.attentions = nn.ModuleList([CausalAttention(dim) for _ in range(num_layers)])
        self.mlps = nn.ModuleList([MLP(dim) for _ in range(num_layers)])
        self.output = Linear(dim, vocab)

    def forward(self, tokens: Int[Tensor, "batch T"]) -> Float[Tensor, "batch T vocab"]:
        """Return the logits of the next token at each position."""
        x = self.tokens(tokens.long()) + self.positions.weight[: tokens.shape[1]]
        for attention, mlp in zip(self.attentions, self.mlps, strict=True):
            x = x + attention(norm(x))
            x = x + mlp(norm(x))
        return self.output(norm(x))


def norm(x: Float[Tensor, "... dim"]) -> Float[Tensor, "... dim"]:
    """Scale the last dimension to a mean square of 1."""
    return rms_norm(x, eps=1e-5)


def loss(model: nn.Module, batch: Int[Tensor, "batch T+1"]) -> Float[Tensor, ""]:
    """Predict each token of a window from those before it."""
    logits = model(batch[:, :-1])
    return nn.functional.cross_entropy(logits.float().flatten(0, 1), batch[:, 1:].flatten().long())

"""The Transformer whose cost transformer_accounting predicts, for counting its parameters and operations in torch."""

from typing import Any

import torch
from torch import Tensor, nn


def make_linear(inputs: int, outputs: int) -> nn.Linear:
    """Return a linear layer without a bias."""
    return nn.Linear(inputs, outputs, bias=False)


class Layer(nn.Module):
    """Attention and an MLP, each with its norm."""

    def __init__(self, width: int, heads: int, hidden: int) -> None:
        super().__init__()
        self.heads = heads
        self.attention_norm, self.mlp_norm = nn.RMSNorm(width), nn.RMSNorm(width)
        self.queries, self.keys, self.values, self.merge = (make_linear(width, width) for _ in range(4))
        self.up, self.down = make_linear(width, hidden), make_linear(hidden, width)

    def forward(self, x: Tensor) -> Tensor:
        """Return the result for a sequence, of shape (context, width)."""
        y = self.attention_norm(x)
        query, key, value = (
            layer(y).unflatten(1, (self.heads, -1)).transpose(0, 1) for layer in (self.queries, self.keys, self.values)
        )
        scores = query @ key.mT / query.shape[-1] ** 0.5
        hidden = torch.ones_like(scores, dtype=torch.bool).triu(1)
        mixture = scores.masked_fill(hidden, -torch.inf).softmax(-1) @ value
        x = x + self.merge(mixture.transpose(0, 1).flatten(1))
        return x + self.down(torch.relu(self.up(self.mlp_norm(x))))


class Transformer(nn.Module):
    """A Transformer of the given sizes, on the current default device."""

    def __init__(self, layers: int, width: int, heads: int, hidden: int, vocab: int, context: int, tied: bool) -> None:
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocab, width), nn.Embedding(context, width)
        self.layers = nn.ModuleList(Layer(width, heads, hidden) for _ in range(layers))
        self.norm, self.output = nn.RMSNorm(width), make_linear(width, vocab)
        if tied:
            self.output.weight = self.tokens.weight

    def forward(self, tokens: Tensor) -> Any:
        """Return the logits of a sequence as long as the context."""
        x = self.tokens(tokens) + self.positions.weight
        for layer in self.layers:
            x = layer(x)
        return self.output(self.norm(x))

"""The Transformer whose cost transformer_accounting predicts, for counting its parameters and operations in torch."""

from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

linear = partial(nn.Linear, bias=False)


def make_embedding(count: int, width: int) -> nn.Embedding:
    """Return an embedding without drawing its values, which on the meta device would import `torch._dynamo`."""
    return nn.Embedding(count, width, _weight=torch.empty(count, width))


class Transformer(nn.Module):
    """A Transformer of the given sizes, on the current default device."""

    def __init__(self, layers: int, width: int, heads: int, hidden: int, vocab: int, context: int, tied: bool) -> None:
        super().__init__()
        self.heads, norm = heads, partial(nn.RMSNorm, width)
        self.tokens, self.positions = make_embedding(vocab, width), make_embedding(context, width)
        self.layers = nn.ModuleList(
            nn.ModuleDict({"attention_norm": norm(), "mlp_norm": norm()}) for _ in range(layers)
        )
        for layer in self.layers:
            layer.update({name: linear(width, width) for name in ("query", "key", "value", "merge")})  # type: ignore[operator]
            layer.update({"up": linear(width, hidden), "down": linear(hidden, width)})  # type: ignore[operator]
        self.norm, self.output = norm(), linear(width, vocab)
        if tied:
            self.output.weight = self.tokens.weight

    def forward(self, tokens: Tensor) -> Any:
        """Return the logits of a sequence as long as the context."""
        x = self.tokens(tokens) + self.positions.weight
        mask = torch.ones(len(x), len(x), dtype=torch.bool, device=x.device).triu(1)
        layer: Any
        for layer in self.layers:
            y = layer["attention_norm"](x)
            projected = (layer[name](y) for name in ("query", "key", "value"))
            q, k, v = (each.unflatten(1, (self.heads, -1)).transpose(0, 1) for each in projected)
            scores = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(mask, -torch.inf)
            x = x + layer["merge"]((scores.softmax(-1) @ v).transpose(0, 1).flatten(1))
            x = x + layer["down"](torch.relu(layer["up"](layer["mlp_norm"](x))))
        return self.output(self.norm(x))

"""Build a small GPT-style Transformer from your own parts."""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from .attention import multi_head_attention  # your own
from .linear import Linear
from .puzzles import rms_norm


class CausalAttention(nn.Module):
    """Let each position read itself and earlier ones.

    `project` is your `Linear(dim, 3 * dim)`, and `merge` your `Linear(dim, dim)`.
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        raise NotImplementedError

    def forward(self, x: Float[Tensor, "batch T dim"]) -> Float[Tensor, "batch T dim"]:
        """Split `project(x)` into thirds q, k, v; return `merge(multi_head_attention(q, k, v, heads, mask))`.

        `heads = math.gcd(dim, 4)`, and `mask` is causal, on x's device.
        """
        raise NotImplementedError


class MLP(nn.Module):
    """Process each position separately, with `up`, your `Linear(dim, 4 * dim)`, and `down`, `Linear(4 * dim, dim)`."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        raise NotImplementedError

    def forward(self, x: Float[Tensor, "... dim"]) -> Float[Tensor, "... dim"]:
        """Return `down(relu(up(x)))`."""
        raise NotImplementedError


class LanguageModel(nn.Module):
    """Predict the next token at each position, from the tokens up to this position.

    Attributes, including all parameters:
    - `tokens`, `nn.Embedding(vocab, dim)`, and `positions`, `nn.Embedding(context, dim)`;
    - `attentions` and `mlps`, each an `nn.ModuleList` of `num_layers` modules: `CausalAttention(dim)` and `MLP(dim)`;
    - `output`, `Linear(dim, vocab)`;
    - `context`, the int.

    Example:
        model = LanguageModel(vocab=256, dim=8, num_layers=2, context=16)
        model(torch.tensor([[72, 105, 33]])).shape     # (1, 3, 256): scores for the token after "H", "Hi" and "Hi!"
    """

    def __init__(self, vocab: int, dim: int, num_layers: int, context: int) -> None:
        super().__init__()
        raise NotImplementedError

    def forward(self, tokens: Int[Tensor, "batch T"]) -> Float[Tensor, "batch T vocab"]:
        """Return the logits, whose softmax is the distribution of the next token. T is at most `context`.

        1. Add the embeddings of each token and its position, 0 … T - 1.
        2. In each layer, `x = x + attention(norm(x))`, then `x = x + mlp(norm(x))`.
        3. Return `output(norm(x))`.

        `norm(x)` is your `rms_norm(x, eps=1e-5)`. Tokens have any integer dtype; `nn.Embedding` needs `tokens.long()`.
        """
        raise NotImplementedError


def loss(model: nn.Module, batch: Int[Tensor, "batch T+1"]) -> Float[Tensor, ""]:
    """Return the mean cross-entropy in nats, `-log(softmax(logits)[next token])`, over all rows and the last T tokens.

    `model` maps tokens (batch, T) to logits (batch, T, vocab).

    Example:
        model = nn.Embedding(256, 256)                           # logits that depend on the current token only
        nn.init.zeros_(model.weight)
        loss(model, torch.tensor([[72, 105, 33]])).item()        # 5.545: all 256 bytes are equally likely

    Details:
    - Call the model once, without each row's last token. `batch` has any integer dtype.
    - Compute it in float32 even for bfloat16 logits. It is finite for logits of 1000.
    - Do not detach the result.
    """
    raise NotImplementedError

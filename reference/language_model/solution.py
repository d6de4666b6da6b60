"""Reference solution for language_model."""

import math
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from os import PathLike

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from .adamw import AdamW
from .checkpoint import load_checkpoint, save_checkpoint
from .deep_network import Block
from .get_batch import get_batch
from .linear import Linear
from .memmap_tokens import load_tokens


@dataclass(frozen=True)
class Settings:
    """The sizes of a model, and the settings of its training."""

    vocab: int = 256
    dim: int = 64
    num_layers: int = 2
    context: int = 64
    steps: int = 200
    batch_size: int = 16
    micro_batch_size: int = 16
    peak_lr: float = 3e-3
    final_lr: float = 3e-4
    warmup: int = 20
    weight_decay: float = 0.1
    max_norm: float = 1.0
    checkpoint_every: int = 50
    seed: int = 0
    device: str = "cpu"
    bfloat16: bool = False


class CausalAttention(nn.Module):
    """Pre-norm causal self-attention with a residual connection."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.heads = math.gcd(dim, 4)
        self.norm = nn.LayerNorm(dim)
        self.project = nn.Linear(dim, 3 * dim, bias=False)
        self.merge = nn.Linear(dim, dim, bias=False)

    def forward(self, x: Float[Tensor, "batch T dim"]) -> Float[Tensor, "batch T dim"]:
        """Return `x + attention(norm(x))`."""
        rows, length, dim = x.shape
        parts = self.project(self.norm(x)).view(rows, length, 3, self.heads, dim // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        mixed = nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        return x + self.merge(mixed.transpose(1, 2).reshape(rows, length, dim))


class LanguageModel(nn.Module):
    """Embeddings, `num_layers` pairs of attention and a block, and a linear output layer."""

    def __init__(self, vocab: int, dim: int, num_layers: int, context: int) -> None:
        super().__init__()
        self.context = context
        self.tokens = nn.Embedding(vocab, dim)
        self.positions = nn.Embedding(context, dim)
        self.attentions = nn.ModuleList([CausalAttention(dim) for _ in range(num_layers)])
        self.blocks = nn.ModuleList([Block(dim) for _ in range(num_layers)])
        self.output = Linear(dim, vocab)

    def forward(self, tokens: Int[Tensor, "batch T"]) -> Float[Tensor, "batch T vocab"]:
        """Return the logits of the next token at each position."""
        x = self.tokens(tokens.long()) + self.positions.weight[: tokens.shape[1]]
        for attention, block in zip(self.attentions, self.blocks, strict=True):
            x = attention(x)
            x = x + block(normalize(x))
        logits: Tensor = self.output(normalize(x))
        return logits


def normalize(x: Float[Tensor, "... dim"]) -> Float[Tensor, "... dim"]:
    """Scale the last dimension to mean 0 and variance 1."""
    return nn.functional.layer_norm(x, x.shape[-1:])


def loss(model: nn.Module, batch: Int[Tensor, "batch T+1"]) -> Float[Tensor, ""]:
    """Predict each token of a window from those before it."""
    logits = model(batch[:, :-1])
    return nn.functional.cross_entropy(logits.float().flatten(0, 1), batch[:, 1:].flatten().long())


def learning_rate(step: int, peak: float, final: float, warmup: int, steps: int) -> float:
    """Increase the learning rate linearly, then decrease it along half a cosine wave."""
    if step < warmup:
        return peak * (step + 1) / warmup
    if step >= steps:
        return final
    return final + (peak - final) * (1 + math.cos(math.pi * (step - warmup) / (steps - warmup))) / 2


@torch.no_grad()
def clip_gradients(parameters: Iterable[nn.Parameter], max_norm: float) -> float:
    """Scale all gradients by the same factor."""
    grads = [p.grad for p in parameters if p.grad is not None]
    norm = sum(float(grad.double().square().sum()) for grad in grads) ** 0.5
    if norm > max_norm:
        for grad in grads:
            grad.mul_(max_norm / norm)
    return norm


def make_optimizer(model: nn.Module, lr: float, weight_decay: float) -> AdamW:
    """Create one parameter group for matrices, with weight decay, and one for vectors, without it."""
    parameters = list(model.parameters())
    groups = [
        {"params": [p for p in parameters if p.ndim >= 2], "weight_decay": weight_decay},
        {"params": [p for p in parameters if p.ndim < 2], "weight_decay": 0.0},
    ]
    return AdamW(groups, lr=lr, betas=(0.9, 0.95))


def training_step(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    batch: Int[Tensor, "batch T+1"],
    micro_batch_size: int,
    max_norm: float,
    bfloat16: bool = False,
) -> float:
    """Accumulate the gradients of all micro-batches, clip them, and take a step."""
    optimizer.zero_grad()
    total = 0.0
    for part in torch.split(batch, micro_batch_size):
        with torch.autocast(batch.device.type, torch.bfloat16, enabled=bfloat16):
            share = loss(model, part) * (len(part) / len(batch))
        share.backward()  # type: ignore[no-untyped-call]
        total += share.item()
    clip_gradients(model.parameters(), max_norm)
    optimizer.step()
    return total


def train_lm(
    tokens_path: str | PathLike[str],
    out: str | PathLike[str],
    settings: Settings,
    report: Callable[[int, float], None] | None = None,
) -> LanguageModel:
    """Train from the last checkpoint, or from the beginning if there is none."""
    s = settings
    data = load_tokens(tokens_path)
    torch.manual_seed(s.seed)
    model = LanguageModel(s.vocab, s.dim, s.num_layers, s.context).to(s.device)
    optimizer = make_optimizer(model, s.peak_lr, s.weight_decay)
    start = load_checkpoint(out, model, optimizer, s.device) if os.path.exists(out) else 0
    for step in range(start, s.steps):
        torch.manual_seed(s.seed * 1_000_003 + step + 1)
        batch = get_batch(data, s.batch_size, s.context + 1, s.device)
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, s.peak_lr, s.final_lr, s.warmup, s.steps)
        value = training_step(model, optimizer, batch, s.micro_batch_size, s.max_norm, s.bfloat16)
        if (step + 1) % s.checkpoint_every == 0 or step + 1 == s.steps:
            save_checkpoint(out, model, optimizer, step + 1)
        if report is not None:
            report(step + 1, value)
    return model


@torch.no_grad()
def generate(
    model: LanguageModel, prompt: Int[Tensor, "T"], n: int, temperature: float, generator: torch.Generator | None = None
) -> Int[Tensor, "T+n"]:
    """Append one token at a time."""
    tokens = prompt
    for _ in range(n):
        logits = model(tokens[None, -model.context :])[0, -1].float()
        if temperature == 0:
            token = logits.argmax()[None]
        else:
            token = torch.multinomial((logits / temperature).softmax(-1), 1, generator=generator)
        tokens = torch.cat([tokens, token])
    return tokens

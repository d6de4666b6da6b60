"""Reference solution for train_language_model."""

import math
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from os import PathLike
from typing import TypeAlias

import torch
from jaxtyping import Int
from torch import Tensor, nn
from torch.optim import Optimizer

from .adamw import AdamW
from .checkpoint import load_checkpoint, save_checkpoint
from .get_batch import get_batch
from .language_model import LanguageModel, loss
from .memmap_tokens import load_tokens

Report: TypeAlias = Callable[[int, float], None]


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


def training_step(model: nn.Module, optimizer: Optimizer, batch: Int[Tensor, "batch T+1"], settings: Settings) -> float:
    """Accumulate the gradients of all micro-batches, clip them, and take a step."""
    model.zero_grad()
    total = 0.0
    for part in torch.split(batch, settings.micro_batch_size):
        with torch.autocast(batch.device.type, torch.bfloat16, enabled=settings.bfloat16):
            share = loss(model, part) * (len(part) / len(batch))
        share.backward()
        total += share.item()
    clip_gradients(model.parameters(), settings.max_norm)
    optimizer.step()
    return total


def train_lm(
    tokens_path: str | PathLike[str], out: str | PathLike[str], settings: Settings, report: Report | None = None
) -> LanguageModel:
    """Train from the last checkpoint, or from the beginning if there is none."""
    data, s = load_tokens(tokens_path), settings
    torch.manual_seed(s.seed)
    model = LanguageModel(s.vocab, s.dim, s.num_layers, s.context).to(s.device)
    optimizer = make_optimizer(model, s.peak_lr, s.weight_decay)
    start = load_checkpoint(out, model, optimizer, s.device) if os.path.exists(out) else 0
    for step in range(start, s.steps):
        torch.manual_seed(s.seed * 1_000_003 + step + 1)
        batch = get_batch(data, s.batch_size, s.context + 1, s.device)
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, s.peak_lr, s.final_lr, s.warmup, s.steps)
        value = training_step(model, optimizer, batch, s)
        if (step + 1) % s.checkpoint_every == 0 or step + 1 == s.steps:
            save_checkpoint(out, model, optimizer, step + 1)
        if report is not None:
            report(step + 1, value)
    return model

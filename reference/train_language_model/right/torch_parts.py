"""Uses torch's own clipping, one group per parameter, and adds up the losses of the rows."""

import itertools
import math
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn

from . import adamw, checkpoint, get_batch, language_model, memmap_tokens


@dataclass(frozen=True)
class Settings:
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


def learning_rate(step, peak, final, warmup, steps):
    if step < warmup:
        return peak / warmup * (1 + step)
    progress = min(1.0, (step - warmup) / max(1, steps - warmup)) if step < steps else 1.0
    return final + (peak - final) * math.cos(math.pi / 2 * progress) ** 2


def clip_gradients(parameters, max_norm):
    return nn.utils.clip_grad_norm_(parameters, max_norm)


def make_optimizer(model, lr, weight_decay):
    groups = [{"params": [p], "weight_decay": weight_decay * (p.dim() > 1)} for p in model.parameters()]
    for group in groups:
        group["weight_decay"] = float(group["weight_decay"])
    return adamw.AdamW(groups, lr, (0.9, 0.95))


def training_step(model, optimizer, batch, settings):
    model.zero_grad()
    losses = []
    for first in range(0, len(batch), settings.micro_batch_size):
        part = batch[first : first + settings.micro_batch_size]
        if settings.bfloat16:
            with torch.autocast(batch.device.type, dtype=torch.bfloat16):
                mean = language_model.loss(model, part)
        else:
            mean = language_model.loss(model, part)
        (mean * len(part) / len(batch)).backward()
        losses.append(float(mean) * len(part))
    clip_gradients(model.parameters(), settings.max_norm)
    optimizer.step()
    return math.fsum(losses) / len(batch)


def train_lm(tokens_path, out, settings, report=None):
    tokens = memmap_tokens.load_tokens(tokens_path)
    torch.manual_seed(settings.seed)
    model = language_model.LanguageModel(settings.vocab, settings.dim, settings.num_layers, settings.context)
    model.to(settings.device)
    optimizer = make_optimizer(model, settings.peak_lr, settings.weight_decay)
    done = 0
    if Path(out).is_file():
        done = checkpoint.load_checkpoint(out, model, optimizer, device=settings.device)
    for step in itertools.islice(itertools.count(), done, settings.steps):
        rate = learning_rate(step, settings.peak_lr, settings.final_lr, settings.warmup, settings.steps)
        for group in optimizer.param_groups:
            group.update(lr=rate)
        torch.manual_seed(hash((settings.seed, step)) % 2**63)
        batch = get_batch.get_batch(
            tokens, sequence_length=settings.context + 1, batch_size=settings.batch_size, device=settings.device
        )
        value = training_step(model, optimizer, batch, settings)
        done = step + 1
        if done == settings.steps or not done % settings.checkpoint_every:
            checkpoint.save_checkpoint(Path(out), model, optimizer, step=done)
        if report:
            report(done, value)
    return model

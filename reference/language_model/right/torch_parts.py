"""Uses torch's own loss, clipping and schedulers where possible, one group per parameter, and inference mode."""

import itertools
import math
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn

from . import adamw, checkpoint, get_batch, memmap_tokens
from .deep_network import Block
from .linear import Linear


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


class CausalAttention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.heads = math.gcd(dim, 4)
        self.norm = nn.LayerNorm(dim)
        self.project = nn.Linear(dim, 3 * dim, bias=False)
        self.merge = nn.Linear(dim, dim, bias=False)

    def forward(self, x):
        rows, length, dim = x.shape
        parts = self.project(self.norm(x)).view(rows, length, 3, self.heads, dim // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        mixed = nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        return x + self.merge(mixed.transpose(1, 2).reshape(rows, length, dim))


class LanguageModel(nn.Module):
    def __init__(self, vocab, dim, num_layers, context):
        super().__init__()
        self.context = context
        self.output = Linear(dim, vocab)
        self.blocks = nn.ModuleList(map(Block, [dim] * num_layers))
        self.attentions = nn.ModuleList(map(CausalAttention, [dim] * num_layers))
        self.positions, self.tokens = nn.Embedding(context, dim), nn.Embedding(vocab, dim)

    def forward(self, tokens):
        dim = self.tokens.embedding_dim
        places = torch.arange(tokens.size(-1), device=tokens.device).expand_as(tokens)
        x = self.positions(places) + self.tokens(tokens.to(torch.int32))
        for layer in range(len(self.blocks)):
            x = self.attentions[layer](x)
            x = self.blocks[layer](nn.functional.layer_norm(x, (dim,))) + x
        return self.output(nn.functional.layer_norm(x, (dim,)))


def loss(model, batch):
    scores = torch.log_softmax(model(batch[..., :-1]).float(), dim=-1)
    return -scores.gather(-1, batch[..., 1:, None].long()).mean()


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


def training_step(model, optimizer, batch, micro_batch_size, max_norm, bfloat16=False):
    model.zero_grad()
    losses = []
    for first in range(0, len(batch), micro_batch_size):
        part = batch[first : first + micro_batch_size]
        if bfloat16:
            with torch.autocast(batch.device.type, dtype=torch.bfloat16):
                mean = loss(model, part)
        else:
            mean = loss(model, part)
        (mean * len(part) / len(batch)).backward()
        losses.append(float(mean) * len(part))
    clip_gradients(model.parameters(), max_norm)
    optimizer.step()
    return math.fsum(losses) / len(batch)


def train_lm(tokens_path, out, settings, report=None):
    tokens = memmap_tokens.load_tokens(tokens_path)
    torch.manual_seed(settings.seed)
    model = LanguageModel(settings.vocab, settings.dim, settings.num_layers, settings.context)
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
        value = training_step(
            model, optimizer, batch, settings.micro_batch_size, settings.max_norm, bfloat16=settings.bfloat16
        )
        done = step + 1
        if done == settings.steps or not done % settings.checkpoint_every:
            checkpoint.save_checkpoint(Path(out), model, optimizer, step=done)
        if report:
            report(done, value)
    return model


@torch.inference_mode()
def generate(model, prompt, n, temperature, generator=None):
    text = prompt.tolist()
    for _ in range(n):
        window = torch.tensor([text[-model.context :]], device=prompt.device)
        scores = model(window)[0, -1]
        if temperature:
            shares = nn.functional.softmax(scores / temperature, dim=0)
            text.append(int(torch.multinomial(shares, 1, generator=generator)))
        else:
            text.append(int(scores.argmax()))
    return torch.tensor(text, device=prompt.device)

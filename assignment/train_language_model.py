"""Train your language model on a file of tokens. Most tests check one function alone: write them in any order."""

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

from .adamw import AdamW  # these are your own parts
from .checkpoint import load_checkpoint, save_checkpoint
from .get_batch import get_batch
from .language_model import LanguageModel, loss
from .memmap_tokens import load_tokens

Report: TypeAlias = Callable[[int, float], None]


@dataclass(frozen=True)
class Settings:
    """The sizes of a model and its training settings. This class is provided."""

    vocab: int = 256  # tokens are 0 … vocab - 1; by default, bytes
    dim: int = 64
    num_layers: int = 2
    context: int = 64  # the maximum number of tokens that the model can look at
    steps: int = 200
    batch_size: int = 16  # windows per step
    micro_batch_size: int = 16  # windows per forward pass
    peak_lr: float = 3e-3
    final_lr: float = 3e-4
    warmup: int = 20  # steps
    weight_decay: float = 0.1
    max_norm: float = 1.0
    checkpoint_every: int = 50  # steps
    seed: int = 0
    device: str = "cpu"
    bfloat16: bool = False


def learning_rate(step: int, peak: float, final: float, warmup: int, steps: int) -> float:
    """Return the learning rate of a step, counted from 0: a linear warm-up, then half a cosine wave.

    - `step < warmup`: `peak · (step + 1) / warmup`. It is positive even for step 0.
    - `warmup ≤ step < steps`: `final + (peak - final) · (1 + cos(π · (step - warmup) / (steps - warmup))) / 2`.
    - `steps ≤ step`: `final`.

    Example:
        [learning_rate(step, 1.0, 0.2, warmup=2, steps=6) for step in (0, 1, 2, 4, 6)]     # [0.5, 1.0, 1.0, 0.6, 0.2]

    `0 ≤ warmup ≤ steps`; both may be 0.
    """
    raise NotImplementedError


def clip_gradients(parameters: Iterable[nn.Parameter], max_norm: float) -> float:
    """Clip the gradients in place to the global norm `max_norm`, and return their original norm.

    The global norm is that of a single vector that contains the elements of all gradients. If it is larger than
    `max_norm`, multiply every gradient by `max_norm / norm`. Otherwise, change nothing.

    Example:
        p, q = nn.Parameter(torch.zeros(1)), nn.Parameter(torch.zeros(2))
        p.grad, q.grad = torch.tensor([3.0]), torch.tensor([0.0, 4.0])
        clip_gradients([p, q], max_norm=1.0)     # 5.0
        q.grad                                   # [0, 0.8]

    Details:
    - Skip parameters whose gradient is None. Without gradients, the norm is 0.
    - `parameters` may be an iterator such as `model.parameters()`, which can be read only once.

    Not specified (any choice is fine): whether the norm is a float or a detached tensor; an epsilon of up to 1e-6 that
    is added to it; an infinite or NaN norm.
    """
    raise NotImplementedError


def make_optimizer(model: nn.Module, lr: float, weight_decay: float) -> AdamW:
    """Return your `AdamW` for all parameters of the model, with `lr` and betas (0.9, 0.95).

    Only parameters with two or more dimensions (matrices and embeddings) decay, with `weight_decay`.

    Example:
        optimizer = make_optimizer(nn.Linear(3, 2), lr=0.001, weight_decay=0.1)
        [(group["weight_decay"], len(group["params"])) for group in optimizer.param_groups]     # [(0.1, 1), (0.0, 1)]

    Not specified (any choice is fine): the order of the groups; whether a group may be empty.
    """
    raise NotImplementedError


def training_step(model: nn.Module, optimizer: Optimizer, batch: Int[Tensor, "batch T+1"], settings: Settings) -> float:
    """Take one step with the gradients of the whole batch, and return the loss before the step.

    1. Zero the gradients of the whole model.
    2. Accumulate gradients in micro-batches of at most `micro_batch_size` rows, as in `gradient_accumulation`. The
       result must equal that of the whole batch, even if the last micro-batch is smaller. Run each backward pass before
       the next forward pass, so that the activations are freed.
    3. Clip the gradients to `max_norm`, then call `optimizer.step()` once.

    Example:
        model = nn.Embedding(256, 256)
        batch = torch.tensor([[72, 105, 33], [72, 111, 33]])
        sgd = torch.optim.SGD(model.parameters(), lr=1.0)
        training_step(model, sgd, batch, Settings(micro_batch_size=1)) > loss(model, batch).item()     # True

    If `bfloat16` is True, run the forward pass under `torch.autocast` for the batch's device, as in `mixed_precision`.
    Otherwise, do not use it.
    """
    raise NotImplementedError


def train_lm(
    tokens_path: str | PathLike[str], out: str | PathLike[str], settings: Settings, report: Report | None = None
) -> LanguageModel:
    """Train a new LanguageModel on the tokens of a file, and return it. Resume from the checkpoint `out` if it exists.

    Each step draws one batch of `batch_size` windows of `context + 1` tokens with your `get_batch`, sets the learning
    rate of every group, and calls `training_step`. Let `done` be the number of steps taken so far, including those
    before a resume. If `done` is a multiple of `checkpoint_every`, or the step is the last one, save a checkpoint to
    `out`, with `done` as its step. Each step ends with `report(done, loss)` (if `report` is not None), whether or not
    it saved.

    For example, `train_lm("text.bin", "text.pt", Settings(steps=100))` takes 100 steps. Called again, it takes none and
    returns the saved model.

    Details:
    - The run may be killed at any moment. A resumed run must equal an uninterrupted one, bit for bit. Therefore, the
      initial weights depend only on `seed`, and the batch of a step only on `seed` and the number of the step. Before
      each batch, call `torch.manual_seed` with a number computed from both. Seeds and steps are at most 2**20. Another
      seed or another step must give another batch (rare coincidences are fine), so `seed + step` is not enough. On the
      CPU, torch uses only the lowest 32 bits of the number. Python's `hash` of a string differs in each process.
    - Load tokens, and save and load checkpoints, only with your own functions. Catch no errors, neither theirs (a new
      run must not overwrite a damaged checkpoint) nor those of `report`.
    - The model and the batches are on `device`.

    Not specified (any choice is fine): the numbers passed to `torch.manual_seed`; whether a run of 0 steps saves a
    checkpoint; what happens if `out` was saved with different settings.
    """
    raise NotImplementedError

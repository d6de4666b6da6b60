"""Capstone: build a language model from your own parts, train it on a file of tokens, and generate text with it.

You can write the functions in any order: most tests check a single function, with a small model of their own.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from os import PathLike

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from .adamw import AdamW  # these are your own parts
from .checkpoint import load_checkpoint, save_checkpoint
from .deep_network import Block
from .get_batch import get_batch
from .linear import Linear
from .memmap_tokens import load_tokens


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


class CausalAttention(nn.Module):
    """Let each position look at itself and at earlier positions: `x + attention(norm(x))`. This class is provided.

    The input and the result have the shape (batch, T, dim).
    """

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
    """Predict, at each position, the next token from the tokens up to this position.

    Attributes, which contain all parameters:
    - `tokens`, `nn.Embedding(vocab, dim)`, and `positions`, `nn.Embedding(context, dim)`;
    - `attentions` and `blocks`, each an `nn.ModuleList` of `num_layers` modules: `CausalAttention(dim)` and your
      `Block(dim)`;
    - `output`, your `Linear(dim, vocab)`;
    - `context`, the int.

    Example:
        model = LanguageModel(vocab=256, dim=8, num_layers=2, context=16)
        model(torch.tensor([[72, 105, 33]])).shape     # (1, 3, 256): scores for the token after "H", "Hi" and "Hi!"
    """

    def __init__(self, vocab: int, dim: int, num_layers: int, context: int) -> None:
        super().__init__()
        raise NotImplementedError

    def forward(self, tokens: Int[Tensor, "batch T"]) -> Float[Tensor, "batch T vocab"]:
        """Return the logits: the scores whose softmax is the distribution of the next token. T is at most `context`.

        1. Add the embedding of each token and the embedding of its position, 0 … T - 1.
        2. In each layer, apply the attention (which adds its own input), then `x = x + block(norm(x))`.
        3. Return `output(norm(x))`.

        `norm(x)` is `nn.functional.layer_norm(x, (dim,))`: mean 0 and variance 1 over the last dimension. Tokens may
        have any integer dtype, like those that your `get_batch` returns; an `nn.Embedding` needs `tokens.long()`.
        """
        raise NotImplementedError


def loss(model: nn.Module, batch: Int[Tensor, "batch T+1"]) -> Float[Tensor, ""]:
    """Return the mean cross-entropy in nats, over all rows and the last T tokens, each predicted from those before it.

    `model` maps tokens (batch, T) to logits (batch, T, vocab). The cross-entropy of one prediction is
    `-log(softmax(logits)[next token])`.

    Example:
        model = nn.Embedding(256, 256)                           # logits that depend on the current token only
        nn.init.zeros_(model.weight)
        loss(model, torch.tensor([[72, 105, 33]])).item()        # 5.545: all 256 bytes are equally likely

    Details:
    - Call the model once, on all but the last token of each row, which has no target.
    - Compute the cross-entropy in float32 even if the logits are bfloat16. It must be finite even for logits of 1000.
    - Do not detach the result, so that the caller can call `backward()`.
    """
    raise NotImplementedError


def learning_rate(step: int, peak: float, final: float, warmup: int, steps: int) -> float:
    """Return the learning rate of a step, counted from 0: a linear warm-up, then half a cosine wave.

    - `step < warmup`: `peak · (step + 1) / warmup`. It is positive even for step 0.
    - `warmup ≤ step < steps`: `final + (peak - final) · (1 + cos(π · (step - warmup) / (steps - warmup))) / 2`.
    - `steps ≤ step`: `final`.

    Example:
        [learning_rate(step, 1.0, 0.2, warmup=2, steps=6) for step in (0, 1, 2, 4, 6)]     # [0.5, 1.0, 1.0, 0.6, 0.2]

    Details:
    - `0 ≤ warmup ≤ steps`; both may be 0.
    """
    raise NotImplementedError


def clip_gradients(parameters: Iterable[nn.Parameter], max_norm: float) -> float:
    """Clip the gradients in place to the global norm `max_norm`, and return their original norm.

    The global norm is the norm of a single vector that contains the elements of all gradients: the square root of the
    sum of their squares. If it is larger than `max_norm`, multiply every gradient by `max_norm / norm`. Otherwise,
    change nothing.

    Example:
        p, q = nn.Parameter(torch.zeros(1)), nn.Parameter(torch.zeros(2))
        p.grad, q.grad = torch.tensor([3.0]), torch.tensor([0.0, 4.0])
        clip_gradients([p, q], max_norm=1.0)     # 5.0
        q.grad                                   # [0, 0.8]

    Details:
    - Skip parameters whose gradient is None. Without gradients, the norm is 0.
    - `parameters` may be an iterator such as `model.parameters()`, which can be read only once.

    Not specified (any choice is fine): whether the norm is a float or a detached tensor; whether an epsilon of up to
    1e-6 is added to the norm; what happens if the norm is infinite or NaN.
    """
    raise NotImplementedError


def make_optimizer(model: nn.Module, lr: float, weight_decay: float) -> AdamW:
    """Return your `AdamW` for all parameters of the model, with `lr` and betas (0.9, 0.95).

    Parameters with fewer than two dimensions, such as the scale of a norm, do not decay. All others (matrices and
    embeddings) decay with `weight_decay`.

    Example:
        optimizer = make_optimizer(nn.Linear(3, 2), lr=0.001, weight_decay=0.1)
        [(group["weight_decay"], len(group["params"])) for group in optimizer.param_groups]     # [(0.1, 1), (0.0, 1)]

    Not specified (any choice is fine): the order of the groups; whether a group may be empty.
    """
    raise NotImplementedError


def training_step(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    batch: Int[Tensor, "batch T+1"],
    micro_batch_size: int,
    max_norm: float,
    bfloat16: bool = False,
) -> float:
    """Perform one step of the optimizer with the gradients of the whole batch, and return the loss before the step.

    Accumulate the gradients in micro-batches of at most `micro_batch_size` rows, as in `gradient_accumulation`: the
    result must equal that of the whole batch, even if the last micro-batch is smaller. Then clip the gradients to
    `max_norm` and call `optimizer.step()` once.

    Example:
        model = nn.Embedding(256, 256)
        batch = torch.tensor([[72, 105, 33], [72, 111, 33]])
        first = training_step(model, torch.optim.SGD(model.parameters(), lr=1.0), batch, 1, max_norm=1.0)
        loss(model, batch).item() < first     # True

    Details:
    - Ignore gradients from before the call: zero the gradients of the whole model first.
    - Run the backward pass of each micro-batch before the next forward pass, so that its activations are freed.
    - If `bfloat16` is True, run the forward pass under `torch.autocast` for the batch's device, as in
      `mixed_precision`. Otherwise, do not use `torch.autocast`.
    """
    raise NotImplementedError


def train_lm(
    tokens_path: str | PathLike[str],
    out: str | PathLike[str],
    settings: Settings,
    report: Callable[[int, float], None] | None = None,
) -> LanguageModel:
    """Train a new LanguageModel on the tokens of a file, and return it. Resume from the checkpoint `out` if it exists.

    Each step draws one batch of `batch_size` windows of `context + 1` tokens with your `get_batch`, sets the learning
    rate of every group, and calls `training_step`. After every `checkpoint_every` steps, and after the last step, it
    saves a checkpoint to `out`, with the number of steps taken so far as its step. Finally, each step calls
    `report(steps so far, loss)` if `report` is not None. `train_lm` does not catch exceptions that `report` raises.

    For example, `train_lm("text.bin", "text.pt", Settings(steps=100))` takes 100 steps. Repeating the call takes no
    steps and returns the saved model.

    Details:
    - The run may be killed at any moment. A run that is resumed from its last checkpoint must equal an uninterrupted
      run, bit for bit. Therefore, the initial weights depend only on `seed`, and the batch of a step depends only on
      `seed` and the number of the step: call `torch.manual_seed` with a number computed from both before each batch.
      Different steps and different seeds draw different batches, so `seed + step` is not enough.
    - Use only your functions from the earlier katas to load tokens and to save and load checkpoints. Do not catch their
      errors: a new run must not overwrite a damaged checkpoint.
    - The model and the batches are on the device given in the settings.

    Not specified (any choice is fine): the numbers passed to `torch.manual_seed`; what happens if `out` was saved with
    different settings.
    """
    raise NotImplementedError


def generate(
    model: LanguageModel, prompt: Int[Tensor, "T"], n: int, temperature: float, generator: torch.Generator | None = None
) -> Int[Tensor, "T+n"]:
    """Return the prompt followed by `n` new tokens, each drawn from the model's distribution after the tokens so far.

    The probabilities are `softmax(logits / temperature)`, drawn with `torch.multinomial` and `generator`. With
    temperature 0, take the token with the largest logit.

    Example:
        model = nn.Embedding(4, 4)
        model.context = 8
        model.weight.data = 100 * torch.eye(4).roll(1, dims=1)       # after 0 comes 1, after 3 comes 0
        generate(model, torch.tensor([2]), n=5, temperature=1.0)     # [2, 3, 0, 1, 2, 3]

    Details:
    - Pass the model at most the last `model.context` tokens.
    - The prompt has at least one token, and is not modified.
    - Generators with the same seed give the same tokens. If `generator` is None, use torch's global one.
    - Do not build an autograd graph, and return the result on the prompt's device.
    """
    raise NotImplementedError

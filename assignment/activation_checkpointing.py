"""Training at scale: activation checkpointing, less memory for activations, bought with a second forward pass."""

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint  # you may use it, or write an autograd.Function of your own


class Block(nn.Module):
    """A weight, then ReLU. This much is given."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(dim, dim) / dim**0.5)

    def forward(self, x: Float[Tensor, "batch dim"]) -> Float[Tensor, "batch dim"]:
        """`relu(x @ weight)`."""
        return torch.relu(x @ self.weight)


class DeepNetworkCheckpointed(nn.Module):
    """Activation checkpointing: `num_layers` blocks, of whose activations only every `segment`-th is kept.

    The backward pass needs the output of every block. Kept until then, `num_layers` activations are alive at once.
    So cut the blocks into segments of `segment` (the last one may be shorter), keep nothing but the input of each, and
    when the backward pass comes to a segment, run it forward once more, from its input.
    Inference needs no gradients, so it keeps no activations at all but those at hand.

    `layers` is an `nn.ModuleList` of `num_layers` times `Block(dim)`, so that the weights of a plain network load.

    Example, with activations of 64 × 64 float32 numbers, 16 KiB each:
        x = torch.randn(64, 64)
        model = DeepNetworkCheckpointed(dim=64, num_layers=16, segment=4)
        y = model(x)          # 4 activations are alive, 64 KiB: the inputs of three segments (x was there before)
                              # and y; without segments it would be 16 of them, 256 KiB
        y.sum().backward()    # has those of one segment alive besides; 16 matrix multiplications more than the two a
                              # layer that gradients take
        model.layers[0].weight.grad.shape     # (64, 64): gradients are there, although x asks for none

    - Outputs and gradients are those of the plain network: gradients of the weights, and of `x` where it asks for its
      own. Where it doesn't, the weights within a reentrant checkpoint get none, so `use_reentrant=False`.
    - In each backward pass every segment is recomputed once, the last one, too.
    - Under `torch.no_grad()` nothing is recomputed and nothing is kept.
    - `num_layers` may be 0, `segment` may be larger than `num_layers`, and a batch may have no rows.
    Left to you: how it is done, and whether it is done in `eval()` mode with gradients.
    """

    def __init__(self, dim: int, num_layers: int, segment: int) -> None:
        super().__init__()
        raise NotImplementedError

    def forward(self, x: Float[Tensor, "batch dim"]) -> Float[Tensor, "batch dim"]:
        """Apply all blocks in order, a segment at a time."""
        raise NotImplementedError

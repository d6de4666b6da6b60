"""Activation checkpointing: save activation memory at the cost of a second forward pass."""

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint


class Block(nn.Module):
    """A linear layer followed by a ReLU. This class is provided."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(dim, dim) / dim**0.5)

    def forward(self, x: Float[Tensor, "batch dim"]) -> Float[Tensor, "batch dim"]:
        """Return `relu(x @ weight)`."""
        return torch.relu(x @ self.weight)


class DeepNetworkCheckpointed(nn.Module):
    """A stack of `num_layers` blocks that keeps only the activations at segment boundaries.

    Split the blocks into segments of `segment` blocks; the last may be shorter. Save only the input of each segment,
    and recompute the segment's forward pass during the backward pass.

    `layers` is an `nn.ModuleList` of `num_layers` `Block(dim)` modules, as in a network without checkpointing.

    Example:
        x = torch.randn(64, 64)     # an activation of 64 × 64 float32 numbers takes 16 KiB
        model = DeepNetworkCheckpointed(dim=64, num_layers=16, segment=4)
        y = model(x)                # keeps 4 activations (64 KiB) besides x: the inputs of the last three segments,
                                    # and y; without checkpointing, it would keep 16 (256 KiB)
        y.sum().backward()          # also holds one segment's activations, and recomputes 16 matmuls, one per block,
                                    # besides the usual two per block
        model.layers[0].weight.grad.shape     # (64, 64): only the weights require grad

    Details:
    - Outputs and gradients equal those of the network without checkpointing, including `x.grad` if x requires grad. Do
      not change `x.requires_grad`. Pass `use_reentrant=False`: otherwise, weights get no gradients if x requires none.
    - Each backward pass recomputes every segment exactly once, one at a time.
    - Under `torch.no_grad()`, run each block once and save no activations.
    - `num_layers` may be 0, `segment` may be larger than `num_layers`, and a batch may be empty.

    Not specified (any choice is fine): `checkpoint` or your own `autograd.Function`; checkpointing in `eval()` mode;
    second derivatives.
    """

    def __init__(self, dim: int, num_layers: int, segment: int) -> None:
        super().__init__()
        raise NotImplementedError

    def forward(self, x: Float[Tensor, "batch dim"]) -> Float[Tensor, "batch dim"]:
        """Apply all blocks in order."""
        raise NotImplementedError


def best_segment(num_layers: int, per_block: int = 1) -> int:
    """Return, as an int, the segment length that minimizes the peak number of activations in memory.

    Each segment keeps its input, one activation. During the backward pass, the blocks of one segment also keep
    `per_block` activations each. The last segment may be shorter; the longest determines the peak.

    Example:
        best_segment(64)                  # 8: 8 segments, and 8 blocks of a segment: 16 activations
        best_segment(64, per_block=4)     # 4: 16 + 4 * 4 = 32 activations; segments of 8 would need 8 + 4 * 8 = 40
        best_segment(3, per_block=4)      # 1: 3 + 4 = 7 activations

    Both arguments are at least 1.

    Not specified (any choice is fine): which of equally good lengths you return.
    """
    raise NotImplementedError

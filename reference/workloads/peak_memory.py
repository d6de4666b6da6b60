"""Compares the peak memory of a training run with the memory that its shapes require."""

import torch

from reference.workloads.training import TrainingRun, batches, parameters
from torchkata import speed


def peak_bytes(rows: int, dim: int, num_layers: int, dtype: torch.dtype = torch.float32) -> int:
    """Return the peak tensor memory, in bytes, of a run that trains `Cruncher(dim, num_layers)` with SGD.

    Assumes `zero_grad()` between the forward pass and `backward()`, an update in place, and no tensors other than
    parameters and gradients kept between steps. P is the number of parameters, A = B·d the size of one layer's
    activations. The peak is at one of these moments:

    - End of the forward pass: P parameters, P gradients of the previous step, and the inputs of the L + 1 layers, which
      autograd keeps for the gradients of the weights: 2·P + (L + 1)·A.
    - Backward of the final layer: the old gradients are freed, all activations are still alive, and the gradients of
      the final weight and of its input are new: P + d + (L + 2)·A.
    - Backward of the last square layer: its output is freed, and the gradients of its output, input and weight are new:
      P + d + d² + (L + 2)·A. Every earlier layer frees A and adds d², and never exceeds the maximum of these moments.
      The first layer's input has no gradient, so this case needs L ≥ 2.
    - Next batch: it arrives before the previous one is freed: 2·P + 2·A.

    Add three vectors of size B: targets, outputs and their difference. Losses, allocator rounding and library
    workspaces are not counted; they are small for large shapes.
    """
    held, activations = parameters(dim, num_layers), rows * dim
    moments = [
        2 * held + (num_layers + 1) * activations,
        2 * held + 2 * activations,
    ]
    if num_layers >= 1:
        moments.append(held + dim + (num_layers + 2) * activations)
    if num_layers >= 2:
        moments.append(held + dim + dim**2 + (num_layers + 2) * activations)
    return (max(moments) + 3 * rows) * dtype.itemsize


class PeakMemory(TrainingRun, speed.MemoryPeak):
    """Training uses little more memory than its shapes require."""

    sizes = {
        "cpu": speed.Size(batch=4096, width=512, layers=4, rate=0.05),
        "cuda": speed.Size(batch=16384, width=8192, layers=4, rate=0.05),
    }

    def needed_bytes(self, size: speed.Size) -> int:
        """Return the peak memory that the shapes require, excluding the first batch."""
        whole = peak_bytes(size.batch, size.width, size.layers, speed.dtype_of(size))
        return whole - sum(given.bytes for given in batches(size, 1).values())

    def remark(self, measured: speed.Measured) -> str:
        """Return a remark on how much memory was used, and on a likely cause."""
        held = f"Used {1 / measured.ratio:.1f} times the memory that is needed"
        if measured.ratio < 0.6:
            return f"{held}: are activations kept alive? Outputs that never went through `backward()` keep theirs."
        return (
            f"{held}: is there a temporary as large as the weights, such as `p - lr * grad`? Update in place instead."
        )

"""The most memory of a training run, against what the shapes say it needs."""

import torch

from reference.workloads.training import TrainingRun, batches, parameters
from torchkata import speed


def peak_bytes(rows: int, dim: int, num_layers: int, dtype: torch.dtype = torch.float32) -> int:
    """Most bytes of tensors that plain training of `Cruncher(dim, num_layers)` by SGD holds at one time.

    Plain: `zero_grad()` between the forward pass and `backward()`, an update in place, nothing kept from one step to
    the next but parameters and gradients. P is the number of parameters, A = B·d the size of one layer's activations.
    The most is held at one of these moments:

    - the end of the forward pass: P parameters, P gradients of the step before, and the input of each of
      the L + 1 layers, which autograd keeps for the gradient of that layer's weight: 2·P + (L + 1)·A;
    - the final layer's backward: the old gradients are gone, all the activations are still there, and the gradients
      of the final weight and of its input are new: P + d + (L + 2)·A;
    - the last square layer's backward: its output has been freed, and the gradients of its output, its input and its
      weight are new: P + d + d² + (L + 2)·A. Each layer further down frees A and adds d², and never holds more than
      the greatest of these moments; the first layer's input has no gradient, so this one needs L ≥ 2;
    - the next batch: it arrives before the last one is let go: 2·P + 2·A.

    On top come three vectors of B: the targets, the outputs and their difference. Not counted: the losses, an
    allocator's rounding and a library's workspace, which are small where the shapes are large.
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
    """Training holds little more memory than the formula says."""

    sizes = {
        "cpu": speed.Size(batch=4096, width=512, layers=4, rate=0.05),
        "cuda": speed.Size(batch=16384, width=8192, layers=4, rate=0.05),
    }

    def needed_bytes(self, size: speed.Size) -> int:
        """All but one batch."""
        whole = peak_bytes(size.batch, size.width, size.layers, speed.dtype_of(size))
        return whole - sum(given.bytes for given in batches(size, 1).values())

    def remark(self, measured: speed.Measured) -> str:
        """How much more was held, and what usually holds it."""
        held = f"Held {1 / measured.ratio:.1f} times what the formula says"
        if measured.ratio < 0.6:
            return f"{held}: do activations stay alive? Outputs that never went through `backward()` keep theirs."
        return f"{held}: is there a temporary as large as the weights, such as `p - lr * grad`? Update in place."

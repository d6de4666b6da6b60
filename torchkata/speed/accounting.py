"""What a piece of work needs, from its shapes alone: FLOPs, the bytes that must move, the bytes that must be held.

A multiplication and the addition that follows it are 2 FLOPs. Only products of matrices are counted: what is
done element by element (the loss, the optimizer's step) is less than 1/dim of them and bound by memory.
"""

import torch

SGD_MOVES = 3  # read p and grad, write p
ADAGRAD_MOVES = 5  # read p, grad and g2, write p and g2


def linear_flops(rows: int, input_dim: int, output_dim: int) -> int:
    """FLOPs of `x @ weight`: each of the `rows · output_dim` outputs is a sum of `input_dim` products."""
    return 2 * rows * input_dim * output_dim


def cruncher_step_flops(rows: int, dim: int, num_layers: int) -> int:
    """FLOPs of a forward and backward pass of `Cruncher(dim, num_layers)`, the input needing no gradient.

    With B rows, d = dim and L = num_layers, each square layer has up to three products of 2·B·d² each:
    forward `h @ W`, backward `hᵀ @ grad` for its weight and `grad @ Wᵀ` for its input. The first layer's input is
    the batch, which needs no gradient, so one product falls away: (3L − 1) · 2·B·d² = (6L − 2)·B·d².
    The final layer maps d to 1; the same three products cost 2·B·d each. Without square layers (L = 0) its
    own input is the batch, and only two of them are left.
    """
    products = 3 * num_layers - 1 if num_layers else 0
    final_products = 3 if num_layers else 2
    return products * linear_flops(rows, dim, dim) + final_products * linear_flops(rows, dim, 1)


def cruncher_parameters(dim: int, num_layers: int) -> int:
    """Numbers in `Cruncher(dim, num_layers)`: L square layers and one column."""
    return num_layers * dim**2 + dim


def sgd_step_bytes(parameters: int, dtype: torch.dtype = torch.float32) -> int:
    """Bytes that a step of SGD cannot avoid moving: 12 per float32 parameter."""
    return SGD_MOVES * parameters * dtype.itemsize


def adagrad_step_bytes(parameters: int, dtype: torch.dtype = torch.float32) -> int:
    """Bytes that a step of AdaGrad cannot avoid moving: 20 per float32 parameter."""
    return ADAGRAD_MOVES * parameters * dtype.itemsize


def training_peak_bytes(rows: int, dim: int, num_layers: int, dtype: torch.dtype = torch.float32) -> int:
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
    parameters, activations = cruncher_parameters(dim, num_layers), rows * dim
    moments = [
        2 * parameters + (num_layers + 1) * activations,
        2 * parameters + 2 * activations,
    ]
    if num_layers >= 1:
        moments.append(parameters + dim + (num_layers + 2) * activations)
    if num_layers >= 2:
        moments.append(parameters + dim + dim**2 + (num_layers + 2) * activations)
    return (max(moments) + 3 * rows) * dtype.itemsize

"""Memory: parameters, gradients, optimizer state and activations: where the bytes of a training run go."""

import torch
from torch import Tensor, nn


def tensor_bytes(x: Tensor) -> int:
    """Return how many bytes of memory `x` holds on to: those of its whole storage.

    For a tensor with a storage of its own these are `numel() * element_size()`. But a view keeps the whole storage of
    its source alive, however small it is, and an expanded tensor shows the same bytes again and again.

    Example:
        x = torch.zeros(1000, 1000)                     # float32: 4 bytes each
        tensor_bytes(x)                                 # 4000000
        tensor_bytes(x.half())                          # 2000000
        tensor_bytes(x[0])                              # 4000000: a row, as long as it lives, keeps the matrix
        tensor_bytes(x[0].clone())                      # 4000
        tensor_bytes(torch.zeros(1).expand(10**11))     # 4
    """
    raise NotImplementedError


def num_parameters(model: nn.Module) -> int:
    """Return how many numbers the parameters of `model` hold, a parameter that is used in several places once.

    They count at any depth, in a module that holds others, too, even frozen (`requires_grad=False`); buffers, such
    as the running mean of a BatchNorm, do not.

    Example:
        embed, head = nn.Embedding(100, 16), nn.Linear(16, 100, bias=False)
        num_parameters(nn.Sequential(embed, head))     # 3200
        head.weight = embed.weight                     # tied, as in GPT-2
        num_parameters(nn.Sequential(embed, head))     # 1600
    """
    raise NotImplementedError


def training_bytes(
    num_parameters: int,
    num_activations: int,
    *,
    parameter_bytes: int = 4,
    gradient_bytes: int = 4,
    optimizer_bytes: int = 8,
    activation_bytes: int = 4,
) -> int:
    """Return the bytes of a training step, added up: parameters, gradients, optimizer state, activations.

    There is one gradient for each parameter. `optimizer_bytes` is the optimizer's state for one parameter: 0 for SGD,
    4 for AdaGrad (one float32), 8 for Adam (two). Activations are what the forward pass keeps for the backward pass;
    what each kind takes a piece is given in bytes. (The peak of a run is another number: activations go while gradients
    come, and operations need memory of their own. `torch.cuda.max_memory_allocated()` tells it.)

    Example, a deep linear model of 2 layers of 64 × 64 on a batch of 8, each layer keeping its input:
        training_bytes(2 * 64 * 64, 2 * 8 * 64)     # 135168 = 8192 * (4 + 4 + 8) + 1024 * 4
        training_bytes(8192, 1024, parameter_bytes=2, gradient_bytes=2, activation_bytes=2)     # 100352: in bfloat16
        training_bytes(8192, 1024, parameter_bytes=2 + 4, gradient_bytes=2, activation_bytes=2) # 133120: see below

    In mixed precision a float32 copy of the parameters, which the optimizer moves, is often kept beside those in
    bfloat16: with Adam 2 + 4 + 2 + 8 = 16 bytes each, as many as in float32. On a GPU that is faster, and it saves
    memory for activations only. Without the copy, 2 + 2 + 8 = 12, small steps are rounded away.
    """
    raise NotImplementedError


def max_parameters(num_devices: int, device_bytes: float, bytes_per_parameter: int) -> int:
    """Return how many parameters fit on so many devices at most, activations left out; a whole number, rounded down.

    Example, the largest model on eight H100 of 80e9 bytes:
        max_parameters(8, 80e9, 16)     # 40000000000: Adam in float32, 4 + 4 + 8, or in mixed precision, 2 + 4 + 2 + 8
        max_parameters(8, 80e9, 12)     # 53333333333: without the float32 copy, 2 + 2 + 8
    """
    raise NotImplementedError

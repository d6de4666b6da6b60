"""Memory accounting: parameters, gradients, optimizer state and activations.

The functions below predict. On a GPU, `torch.cuda.memory_allocated()` returns the bytes that tensors occupy now, and
`torch.cuda.max_memory_allocated()` the peak so far.
"""

import torch
from torch import Tensor, nn


def tensor_bytes(x: Tensor) -> int:
    """Return the size in bytes of the storage of `x`.

    For a tensor with its own storage this is `numel() * element_size()`. A view keeps the entire storage of its base
    tensor alive.

    Example:
        x = torch.zeros(1000, 1000)                     # float32: 4 bytes each
        tensor_bytes(x)                                 # 4000000
        tensor_bytes(x.half())                          # 2000000
        tensor_bytes(x[0])                              # 4000000: a row keeps the whole matrix allocated
        tensor_bytes(x[0].clone())                      # 4000
        tensor_bytes(torch.zeros(1).expand(10**11))     # 4
    """
    raise NotImplementedError


def num_parameters(model: nn.Module) -> int:
    """Return the number of elements of all parameters of `model`, including those of submodules at any depth.

    Details:
    - Count a parameter that is used in several places only once.
    - Count frozen parameters (`requires_grad=False`), but not buffers (such as a BatchNorm's running mean).
    - A model can be on the device "meta", which stores no elements: there, every address (`data_ptr()`) is 0.

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
    """Return the total bytes of parameters, gradients, optimizer state and activations, as an exact int.

    Each `*_bytes` argument is the size of one element of its kind. Each parameter has one gradient; `optimizer_bytes`
    is the size of the entire optimizer state per parameter: 0 for SGD, 4 for AdaGrad, 8 for Adam.

    Example, a deep linear model of 2 layers of 64 × 64 on a batch of 8, where each layer keeps its input:
        training_bytes(2 * 64 * 64, 2 * 8 * 64)     # 135168 = 8192 * (4 + 4 + 8) + 1024 * 4
        training_bytes(8192, 1024, parameter_bytes=2, gradient_bytes=2, activation_bytes=2)     # 100352: in bfloat16
        training_bytes(8192, 1024, parameter_bytes=2 + 4, gradient_bytes=2, activation_bytes=2) # 133120: master copy
    """
    raise NotImplementedError


def max_parameters(num_devices: int, device_bytes: float, bytes_per_parameter: int) -> int:
    """Return the largest number of parameters that fit on all devices together, ignoring activations, as an int.

    Example, the largest model on eight H100s with 80e9 bytes each:
        max_parameters(8, 80e9, 16)     # 40000000000: Adam in float32 (4 + 4 + 8) or in mixed precision (2 + 4 + 2 + 8)
        max_parameters(8, 80e9, 12)     # 53333333333: without the float32 copy (2 + 2 + 8)
    """
    raise NotImplementedError

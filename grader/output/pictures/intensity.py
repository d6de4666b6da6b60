"""How many operations a workload has for each byte that it must move at least: its place on a roofline.

The bytes are those of a run that reads and writes each tensor once, in the sizes of `torchkata/speed/sizes.py`.
"""

from torchkata.speed.sizes import Size

BYTES = {"float32": 4, "bfloat16": 2}

SGD_FLOPS, SGD_TENSORS = 2, 3  # p − lr·g; p and g are read, p is written
ADAGRAD_FLOPS, ADAGRAD_TENSORS = 7, 5  # G + g·g, then p − lr·g / √(G + ε); p, g and G are read, p and G are written


def intensity(workload: str, size: Size) -> float | None:
    """FLOP a byte; None for a workload that is not bound by arithmetic or bandwidth."""
    match workload:
        case "linear_forward":
            B, D, K = size.batch, size.width, size.outputs
            return 2 * B * D * K / (element(size) * (B * D + D * K + B * K))
        case "cruncher_step" | "train_throughput":
            return training_intensity(size)
        case "sgd_step":
            return SGD_FLOPS / (SGD_TENSORS * element(size))
        case "adagrad_step":
            return ADAGRAD_FLOPS / (ADAGRAD_TENSORS * element(size))
    return None


def training_intensity(size: Size) -> float:
    """A step of L square layers without their last: (6L − 2)·B·d² FLOP, since x needs no gradient.

    Each of the 3L − 1 products moves its three matrices, and SGD moves each weight's.
    """
    B, d, L = size.batch, size.width, size.layers
    products = 3 * L - 1
    moved = products * (2 * B * d + d * d) + L * SGD_TENSORS * d * d
    return 2 * products * B * d * d / (element(size) * moved)


def element(size: Size) -> int:
    """The bytes of one number."""
    return BYTES[size.dtype]

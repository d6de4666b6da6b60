"""The work of an operation, and which of a device's two speeds decides how long it takes."""

RELU_FLOPS, GELU_FLOPS = 1, 20  # for each element


def elementwise_work(n: int, flops_each: int, itemsize: int) -> tuple[int, int]:
    """FLOPs and bytes of a function of each element: read it, write the result."""
    return flops_each * n, (n + n) * itemsize


def product_work(m: int, k: int, n: int, itemsize: int) -> tuple[int, int]:
    """FLOPs and bytes of a product (m, k) by (k, n); vectors are matrices with a side of 1."""
    return 2 * m * k * n, (m * k + k * n + m * n) * itemsize


def arithmetic_intensity(flops: int, moved: int) -> float:
    """FLOPs for each byte of an operation."""
    return flops / moved


def accelerator_intensity(flop_per_sec: float, bytes_per_sec: float) -> float:
    """FLOPs in the time of one byte, on a device."""
    return flop_per_sec / bytes_per_sec


def attainable_mfu(intensity: float, accelerator: float) -> float:
    """The roofline, as a share of the peak."""
    return min(1.0, intensity / accelerator)


def bound(flops: float, moved: float, flop_per_sec: float, bytes_per_sec: float) -> str:
    """Which takes longer."""
    return "memory" if moved / bytes_per_sec > flops / flop_per_sec else "compute"

"""Takes the place of `time_matmul` while what builds on it is graded."""

from torch import Tensor
from torch.utils.benchmark import Timer


def time_matmul(a: Tensor, b: Tensor) -> float:
    """By torch's own timer, which warms up and waits for the device."""
    return Timer("a @ b", globals={"a": a, "b": b}).timeit(5).mean

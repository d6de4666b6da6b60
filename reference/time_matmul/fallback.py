"""Replaces the student's `time_matmul` in the katas that build on it if its tests fail."""

from torch import Tensor
from torch.utils.benchmark import Timer


def time_matmul(a: Tensor, b: Tensor) -> float:
    """Use torch's timer, which warms up and synchronizes the device."""
    return Timer("a @ b", globals={"a": a, "b": b}).timeit(5).mean

"""Replaces the student's `time_matmul` in katas that build on it, if the student's version fails its tests."""

from torch import Tensor
from torch.utils.benchmark import Timer


def time_matmul(a: Tensor, b: Tensor) -> float:
    """Use torch's timer, which warms up and synchronizes the device."""
    return Timer("a @ b", globals={"a": a, "b": b}).timeit(5).mean

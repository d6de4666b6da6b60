"""Replaces `time_matmul` when katas that build on it are graded and the student's own does not pass."""

from torch import Tensor
from torch.utils.benchmark import Timer


def time_matmul(a: Tensor, b: Tensor) -> float:
    """Use torch's timer, which warms up and synchronizes."""
    return Timer("a @ b", globals={"a": a, "b": b}).timeit(5).mean

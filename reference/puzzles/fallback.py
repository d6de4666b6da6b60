"""Replaces the student's `puzzles` in katas that build on it, if the student's version fails its tests."""

from torch import Tensor, nn


def rms_norm(x: Tensor, eps: float) -> Tensor:
    """Divide each row by the root of its mean square."""
    return nn.functional.rms_norm(x, x.shape[-1:], eps=eps)
